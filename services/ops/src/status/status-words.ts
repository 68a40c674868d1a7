import { type DatabaseStatus, PENDING_COUNTED_MAX } from './database-status.ts';
import { age, count } from './figures.ts';
import type { QueueStatus } from './queue-status.ts';
import type { SystemStatus } from './status.ts';
import { BEHIND_MS, type Level, type Verdict, verdictOn } from './verdict.ts';
import type { WorkerState, WorkerStatus } from './worker-status.ts';

export type Fact = { text: string; note?: string; level?: Level };

/** The state of the system in words, ready to be shown: rendered by the server first, then refreshed as JSON. */
export type StatusWords = {
  verdict: Verdict;
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

export function statusWords(status: SystemStatus, now: Date): StatusWords {
  return {
    verdict: verdictOn(status),
    facts: { ...databaseFacts(status.database), ...queueFacts(status.queue) },
    workers: (status.queue?.workers ?? []).map(workerWords),
    chains: (status.database?.chains ?? []).map(({ chain, height, entries, sealed }) => ({
      chain: String(chain),
      height: count(height),
      entries: count(entries),
      sealed: `${age(now.getTime() - sealed.getTime())} ago`,
    })),
  };
}

function databaseFacts(database: DatabaseStatus | undefined) {
  if (database === undefined) return { plants: UNKNOWN, pending: UNKNOWN };
  const { plants, pending, oldestPendingMs } = database;
  const isCapped = pending >= PENDING_COUNTED_MAX;
  return {
    plants: { text: count(plants), note: 'as the database estimates' },
    pending: {
      text: isCapped ? `${count(pending)}+` : count(pending),
      note: pending === 0 ? 'all are indexed and audited' : `the oldest for ${age(oldestPendingMs)}`,
      ...(oldestPendingMs > BEHIND_MS && { level: 'warn' as const }),
    },
  };
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
    note: missing > 0 ? `report; ${count(missing)} no longer` : 'report',
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
