import { setTimeout as pause } from 'node:timers/promises';
import type { PendingCommit } from '@plant-store/contracts/creation-job';
import type { CommitBatches } from './commit-batches.ts';
import type { PoisonPlant } from './pending-plants.ts';

/** Pauses while the database is away: soon at first, and never so long that its return goes unnoticed (L2). */
const PAUSE_MS = 250;
const PAUSE_MS_MAX = 4_000;
/** Of a job's reason to fail: operators read it, Redis keeps it. */
const NAMED_MAX = 10;
const REASON_LENGTH_MAX = 200;

/** A creation job as far as it is needed. */
export type CreationJob = {
  id: string;
  /** None where the job is none of ours. */
  commits: readonly PendingCommit[];
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
 * One creation job: the commits it names join the next batch. While the database is away the job waits for it, as every
 * other would; to fail it would only have the relay retry it, later. Whatever else fails, fails the job, which frees its
 * place; the plants concerned stay pending, and the relay retries every failed job.
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
  return `cannot be processed and stay pending: ${listed([...plants, ...causes])}`;
}

function listed(reasons: readonly string[]): string {
  const named = reasons.slice(0, NAMED_MAX).map((reason) => reason.slice(0, REASON_LENGTH_MAX));
  const more = reasons.length - named.length;
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
