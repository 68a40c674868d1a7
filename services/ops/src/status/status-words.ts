import type { LastingFinding } from '../findings/diagnose.ts';
import { BEHIND_MS } from '../findings/queue-findings.ts';
import type { Observation } from '../monitor/monitor.ts';
import type { Pace } from '../monitor/pace.ts';
import { age, count } from './figures.ts';
import type { DatabaseStatus } from './reading/database-status.ts';
import type { QueueStatus } from './reading/queue-status.ts';
import type { WorkerState, WorkerStatus } from './reading/worker-status.ts';

/** The levels, in order: all is well, work is under way, less than promised, not doing its job. */
type Level = 'good' | 'busy' | 'warn' | 'bad';

/** `title` is for the browser's tab: the headline after a sign that tells the level without colour. */
type Verdict = { level: Level; title: string; headline: string; advice: string };

export type FindingWords = {
  key: string;
  level: Level;
  headline: string;
  since: string;
  cause: string;
  affected: string;
  action: string;
  runbook: string;
};

export type Fact = { text: string; note?: string; level?: Level };

/** The state of the system in words, ready to be shown: rendered by the server first, then refreshed as JSON. */
export type StatusWords = {
  verdict: Verdict;
  /** Everything that is wrong, the gravest first. */
  findings: FindingWords[];
  facts: Record<FactName, Fact>;
  workers: WorkerWords[];
  chains: { chain: string; height: string; entries: string; sealed: string }[];
};

export type WorkerWords = {
  name: string;
  state: string;
  level: Level;
  progress: string;
  jobs: string;
  up: string;
  version: string;
};

/** What the page shows a figure of. */
export type FactName =
  | 'plants'
  | 'pending'
  | 'oldestWaiting'
  | 'workers'
  | 'waiting'
  | 'active'
  | 'delayed'
  | 'failed';

const UNKNOWN: Fact = { text: '–' };

export function statusWords({ status, findings, pace }: Observation, now: Date): StatusWords {
  return {
    verdict: titled(verdictOn(status.database, findings)),
    findings: findings.map((finding) => findingWords(finding, now)),
    facts: { ...databaseFacts(status.database, pace), ...queueFacts(status.queue) },
    workers: (status.queue?.workers ?? []).map(workerWords),
    chains: (status.database?.chains ?? []).map(({ chain, height, entries, sealed }) => ({
      chain: String(chain),
      height: count(height),
      entries: count(entries),
      sealed: sealed === undefined ? 'unknown' : `${age(now.getTime() - sealed.getTime())} ago`,
    })),
  };
}

const signs: Record<Level, string> = { good: '✓', busy: '✓', warn: '⚠', bad: '✖' };

function titled(verdict: Omit<Verdict, 'title'>): Verdict {
  return { ...verdict, title: `${signs[verdict.level]} ${verdict.headline}` };
}

/** The gravest finding, or that there is none. */
function verdictOn(
  database: DatabaseStatus | undefined,
  findings: readonly LastingFinding[],
): Omit<Verdict, 'title'> {
  const [first, ...others] = findings;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` ${count(others.length)} more below.`;
    return { level: first.level, headline: first.headline, advice: `${first.affected}${more}` };
  }
  return (database?.backlog.plants ?? 0) > 0
    ? { level: 'busy', headline: 'All is well', advice: 'New plants are being indexed and audited.' }
    : { level: 'good', headline: 'All is well', advice: 'Every plant is stored, indexed and audited.' };
}

function findingWords(finding: LastingFinding, now: Date): FindingWords {
  const { key, id, level, headline, since, cause, affected, action } = finding;
  return {
    key,
    level,
    headline,
    since: `for ${age(now.getTime() - since.getTime())}, since ${since.toISOString().slice(11, 19)} UTC`,
    cause,
    affected,
    action,
    runbook: `/runbook#${id}`,
  };
}

function databaseFacts(database: DatabaseStatus | undefined, pace: Pace | undefined) {
  if (database === undefined) return { plants: UNKNOWN, pending: UNKNOWN };
  const { plants, backlog } = database;
  return {
    plants: {
      text: count(plants),
      note:
        pace === undefined ? 'as the database estimates' : `${count(Math.round(pace.arrivedPerS))}/s arrive`,
    },
    pending: {
      text: backlog.isCapped ? `about ${count(backlog.plants)}` : count(backlog.plants),
      note: backlogNote(backlog, pace),
      ...(backlog.oldestMs > BEHIND_MS && { level: 'warn' as const }),
    },
  };
}

function backlogNote(
  { plants, oldestMs, poison }: DatabaseStatus['backlog'],
  pace: Pace | undefined,
): string {
  const apart = poison === 0 ? '' : `; ${count(poison)} more cannot be processed`;
  if (plants === 0) return `all ${poison === 0 ? '' : 'others '}are indexed and audited${apart}`;
  const outlook = outlookOf(pace);
  return `the oldest for ${age(oldestMs)}${outlook === undefined ? '' : `, ${outlook}`}${apart}`;
}

/** How the backlog develops; undefined for one that clears within seconds, which is normal. */
function outlookOf(pace: Pace | undefined): string | undefined {
  if (pace === undefined) return undefined;
  if (pace.growsPerS > 0) return `growing by ${count(Math.ceil(pace.growsPerS))}/s`;
  return pace.clearInMs !== undefined && pace.clearInMs > 5_000
    ? `clear in ${age(pace.clearInMs)}`
    : undefined;
}

function queueFacts(queue: QueueStatus | undefined) {
  if (queue === undefined) {
    return {
      oldestWaiting: UNKNOWN,
      workers: UNKNOWN,
      waiting: UNKNOWN,
      active: UNKNOWN,
      delayed: UNKNOWN,
      failed: UNKNOWN,
    };
  }
  const { waiting, active, delayed, failed, oldestWaitingMs, paused } = queue;
  return {
    oldestWaiting: {
      text: waiting === 0 ? 'none' : age(oldestWaitingMs),
      note: paused ? 'the queue is paused' : 'in the queue',
      ...((paused || oldestWaitingMs > BEHIND_MS) && { level: 'warn' as const }),
    },
    workers: workersFact(queue),
    waiting: { text: count(waiting) },
    active: { text: count(active) },
    delayed: { text: count(delayed) },
    failed: { text: count(failed), ...(failed > 0 && { level: 'warn' as const }) },
  };
}

function workersFact({ workers, connections }: QueueStatus): Fact {
  const reporting = workers.filter(({ state }) => state === 'working' || state === 'idle').length;
  const missing = workers.length - reporting;
  const isGood = missing === 0 && (reporting > 0 || connections !== 0);
  return {
    text: count(reporting),
    note: missing > 0 ? `report, ${count(missing)} no longer` : reporting === 1 ? 'reports' : 'report',
    ...(!isGood && { level: 'warn' as const }),
  };
}

const stateWords: Record<WorkerState, { state: string; level: Level }> = {
  working: { state: 'working', level: 'busy' },
  idle: { state: 'idle', level: 'good' },
  silent: { state: 'does not respond', level: 'bad' },
  gone: { state: 'gone', level: 'warn' },
};

function workerWords(worker: WorkerStatus): WorkerWords {
  const { name, version, batches, sinceProgressMs, sinceReportMs, jobsInHand, upMs } = worker;
  const { state, level } = stateWords[worker.state];
  const isMissing = worker.state === 'silent' || worker.state === 'gone';
  return {
    name,
    state: isMissing ? `${state} for ${age(sinceReportMs)}` : state,
    level,
    progress: batches === 0 ? 'no batch yet' : `${age(sinceProgressMs)} ago`,
    jobs: count(jobsInHand),
    up: age(upMs),
    version,
  };
}
