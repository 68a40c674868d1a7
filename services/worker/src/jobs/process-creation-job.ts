import { setTimeout as pause } from 'node:timers/promises';
import type { PublishedCommit } from '@plant-store/contracts/creation-job';
import type { CommitBatches } from './commit-batches.ts';
import { POISONED, type PoisonPlant } from './pending-plants.ts';

/** Pauses between tries while the database is away: they grow to a maximum that still meets L2 when it is back. */
const PAUSE_MS = 250;
const PAUSE_MS_MAX = 4_000;
/** Limits on the reason with which a job fails: operators read it, and Redis stores it. */
const NAMED_MAX = 10;
const REASON_LENGTH_MAX = 200;

/** The fields of a creation job that are needed here. */
export type CreationJob = {
  id: string;
  /** Empty when the job is not a creation job. */
  commits: readonly PublishedCommit[];
  traceparent: string | undefined;
};

/** How a job ended, for log lines and metrics. */
export type JobRecord = { job: string; commits: string[]; ms: number; traceparent: string | undefined };

export type CreationJobDeps = {
  batches: CommitBatches;
  closing: AbortSignal;
  on: {
    done: (job: JobRecord & { plants: number }) => void;
    poisoned: (poison: readonly PoisonPlant[]) => void;
    failed: (job: JobRecord, reason: string) => void;
    databaseAway: (error: unknown) => void;
  };
};

/**
 * Processes one creation job: its commits join the next batch. While the database is away the job waits, since every
 * other job would wait too, and a failed job is only retried later. Any other error fails the job, so that the worker
 * can take another one; the plants concerned stay pending, and the relay retries the failed job.
 */
export async function processCreationJob(deps: CreationJobDeps, job: CreationJob): Promise<void> {
  const started = performance.now();
  const record = () => ({
    job: job.id,
    commits: job.commits.map(({ commit }) => commit),
    ms: Math.round(performance.now() - started),
    traceparent: job.traceparent,
  });

  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    const result = await deps.batches.submit(job.commits);
    if (result.outcome === 'done') return deps.on.done({ ...record(), plants: result.plants });

    if (result.outcome === 'database-away' && !deps.closing.aborted) {
      deps.on.databaseAway(result.error);
      await pause(pauseMs, undefined, { signal: deps.closing }).catch(() => {});
      if (!deps.closing.aborted) continue;
    }
    const poison = result.outcome === 'failed' ? result.poison : [];
    const errors = result.outcome === 'failed' ? result.errors : [result.error];
    if (poison.length > 0) deps.on.poisoned(poison);
    const reason = reasonOf(poison, errors);
    deps.on.failed(record(), reason);
    throw new Error(reason, { cause: errors[0] });
  }
}

/** Names the plants, so that operators need no log to find them. */
function reasonOf(poison: readonly PoisonPlant[], errors: readonly unknown[]): string {
  const causes = errors.map((error) => (error instanceof Error ? error.message : String(error)));
  if (poison.length === 0) return listed(causes);
  const plants = poison.map(({ plant, reason }) => `plant ${plant}: ${reason}`);
  return `${POISONED}${listed([...plants, ...causes])}`;
}

function listed(reasons: readonly string[]): string {
  const named = reasons.slice(0, NAMED_MAX).map((reason) => reason.slice(0, REASON_LENGTH_MAX));
  const more = reasons.length - named.length;
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
