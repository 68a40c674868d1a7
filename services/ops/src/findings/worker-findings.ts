import { age, count } from '../status/figures.ts';
import type { WorkerStatus } from '../status/reading/worker-status.ts';
import type { SystemStatus } from '../status/status.ts';
import type { Finding, Rule } from './finding.ts';

/** A worker replaces its own connection after 10 s without progress; after this long, that has not helped. */
const STUCK_MS = 12_000;
const STARTS_MAX = 3;

const MEANWHILE = 'Plants are created as usual';

/** A single worker that restarts is away for some seconds. */
const none: Rule = {
  id: 'no-worker',
  holdMs: 6_000,
  find: ({ queue }) =>
    queue === undefined || queue.connections !== 0
      ? []
      : [
          {
            level: 'warn',
            headline: 'No worker is connected',
            cause: queue.workers.some(({ state }) => state === 'gone')
              ? `Last seen: ${queue.workers.map(({ name }) => name).join(', ')}.`
              : 'None was started, or none reaches Redis.',
            affected: `${MEANWHILE}; they are indexed and audited once a worker runs.`,
            action: 'Start a worker, and read its log if it does not stay.',
          },
        ],
};

const silent: Rule = {
  id: 'worker-silent',
  find: ({ queue, redis }) => {
    // A full Redis refuses the workers' reports, so missing ones say nothing about the workers.
    if (queue === undefined || (redis?.memoryUsed ?? 0) >= 0.98) return [];
    const missing = queue.workers.filter(({ state }) => state === 'silent');
    const isAlone = missing.length === queue.workers.length;
    return missing.map(
      (worker): Finding => ({
        subject: worker.name,
        level: isAlone ? 'bad' : 'warn',
        headline: `${worker.name} is connected and does not respond${waiting(queue.waiting)}: restart it`,
        cause: 'Its process is stopped, or its event loop is blocked.',
        affected: isAlone
          ? `${MEANWHILE}; none is indexed or audited.`
          : `${MEANWHILE}; other workers take over its jobs within 20 s.`,
        action: `Restart ${worker.name}.`,
        lastedMs: worker.sinceReportMs,
      }),
    );
  },
};

const stuck: Rule = {
  id: 'worker-stuck',
  // After a pause or an outage, workers have processed nothing for a while through no fault of theirs.
  needs: { possible: handsOutJobs, ms: STUCK_MS },
  find: (status) => {
    const { queue } = status;
    if (queue === undefined || !handsOutJobs(status)) return [];
    if (queue.waiting === 0 || queue.oldestWaitingMs < STUCK_MS) return [];
    return queue.workers.filter(isStuck).map(
      (worker): Finding => ({
        subject: worker.name,
        level: 'warn',
        headline: `${worker.name} is connected and has processed nothing for ${age(worker.sinceProgressMs)}${waiting(queue.waiting)}: restart it`,
        cause: 'It reports, so its process works; it takes no job, or does not finish what it has in hand.',
        affected: `${MEANWHILE}; they are indexed and audited later.`,
        action: `Read the log of ${worker.name}, then restart it.`,
        lastedMs: worker.sinceProgressMs,
      }),
    );
  },
};

function handsOutJobs({ database, queue }: SystemStatus): boolean {
  if (database === undefined || queue === undefined) return false;
  return !queue.paused && queue.haltedMs === undefined && queue.rateLimit === undefined;
}

function isStuck({ state, sinceProgressMs }: WorkerStatus): boolean {
  return (state === 'idle' || state === 'working') && sinceProgressMs > STUCK_MS;
}

const restarts: Rule = {
  id: 'worker-restarts',
  find: ({ queue }) => {
    const workers = queue?.workers.filter(({ recentStarts }) => recentStarts > STARTS_MAX) ?? [];
    return [...new Map(workers.map((worker) => [worker.name, worker])).values()].map(
      (worker): Finding => ({
        subject: worker.name,
        level: 'warn',
        headline: `${worker.name} started ${worker.recentStarts} times within 5 minutes`,
        cause: 'It crashes and is started again, or somebody restarts it.',
        affected: `${MEANWHILE}; jobs it had in hand are taken over after up to 20 s, each time.`,
        action: `Read the last lines of its log before each start.`,
      }),
    );
  },
};

function waiting(jobs: number): string {
  return jobs === 0 ? '' : ` while ${count(jobs)} ${jobs === 1 ? 'job waits' : 'jobs wait'}`;
}

export const workerRules: readonly Rule[] = [none, silent, stuck, restarts];
