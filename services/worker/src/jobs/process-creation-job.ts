import { setTimeout as pause } from 'node:timers/promises';
import { commitOfJob } from '@plant-store/contracts/creation-job';
import type { Batcher } from '@plant-store/platform/batcher';
import type { AnnouncedCommit, CommitOutcome } from './commit-runs.ts';
import type { PoisonPlant } from './pending-plants.ts';

/** Pauses while the database is away: soon at first, and never so long that its return goes unnoticed (L2). */
const PAUSE_MS = 250;
const PAUSE_MS_MAX = 4_000;
/** Of a job's reason to fail: operators read it, Redis keeps it. */
const POISON_NAMED_MAX = 10;
const REASON_LENGTH_MAX = 200;

/** A creation job as far as it is needed. Its data may be missing, when Redis evicted it: the id names the commit. */
export type CreationJobView = { id: string; plants: number; traceparent: string | undefined };

export type CreationJobDeps = {
  runs: Batcher<AnnouncedCommit, CommitOutcome>;
  closing: AbortSignal;
  on: {
    done: (job: { commit: string; plants: number; ms: number; traceparent: string | undefined }) => void;
    poisoned: (poison: readonly PoisonPlant[]) => void;
    failed: (job: { commit: string; ms: number; traceparent: string | undefined }, error: unknown) => void;
    databaseAway: (error: unknown) => void;
  };
};

/**
 * One creation job: the commit it names joins the next run. While the database is away the job waits for it, as every
 * other would; failing it would only have the relay drive it again, later. Whatever else fails, fails the job, which
 * frees its place; the plants stay pending, and the relay drives every failed job again.
 */
export async function processCreationJob(deps: CreationJobDeps, job: CreationJobView): Promise<void> {
  const started = performance.now();
  const commit = commitOfJob(job.id);
  if (commit === undefined) throw new Error('no creation job: its id names no commit');
  const record = () => ({
    commit,
    ms: Math.round(performance.now() - started),
    traceparent: job.traceparent,
  });

  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    const result = await deps.runs.submit({ commit, plants: job.plants });
    if (result.outcome === 'done') return deps.on.done({ ...record(), plants: result.plants });

    if (result.outcome === 'database-away' && !deps.closing.aborted) {
      deps.on.databaseAway(result.error);
      await pause(pauseMs, undefined, { signal: deps.closing }).catch(() => {});
      if (!deps.closing.aborted) continue;
    }
    if (result.outcome === 'poisoned') deps.on.poisoned(result.poison);
    const error = result.outcome === 'poisoned' ? poisonError(result.poison) : result.error;
    deps.on.failed(record(), error);
    throw error;
  }
}

/** Names the plants, so that operators need no log to find them. */
function poisonError(poison: readonly PoisonPlant[]): Error {
  const named = poison
    .slice(0, POISON_NAMED_MAX)
    .map(({ plant, reason }) => `plant ${plant}: ${reason.slice(0, REASON_LENGTH_MAX)}`);
  const more = poison.length - named.length;
  return new Error(
    `cannot be processed and stay pending: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
  );
}
