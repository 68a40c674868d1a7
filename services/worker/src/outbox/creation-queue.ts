import type { PendingCommit } from '@plant-store/contracts/creation-job';
import type { QueueStatus } from '@plant-store/platform/redis/queue-status';

/** The queue of creation jobs, seen from the worker's side. Every function throws while Redis is away. */
export type CreationQueue = {
  status: () => Promise<QueueStatus>;
  /** The waiting job that was added last; workers take it last. */
  newestWaiting: () => Promise<string | undefined>;
  isWaiting: (jobId: string) => Promise<boolean>;
  /** The commits of active jobs. */
  commitsInHand: () => Promise<ReadonlySet<string>>;
  /** Those of the commits whose job id Redis still holds: `add` ignores a job with such an id. */
  taken: (commits: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Whether one of these commits has an orphaned job: its id is taken, but it is in no list. */
  anyOrphaned: (commits: readonly string[]) => Promise<boolean>;
  /** Removes all orphaned jobs (in no list). Returns how many there were. */
  removeOrphaned: () => Promise<number>;
  /** Publishes creation jobs, each for the given number of commits. */
  publish: (jobs: readonly (readonly PendingCommit[])[]) => Promise<void>;
  /** A page of the failed jobs, in the order in which they failed. */
  failed: (start: number, jobsMax: number) => Promise<FailedJob[]>;
  /** What is known of each of these failed jobs. */
  attempts: (jobIds: readonly string[]) => Promise<Attempts[]>;
  /** The outcome of retrying a failed job. */
  retry: (jobId: string) => Promise<Retry>;
  /** Drops all waiting jobs: their commits are pending in the database, and published again later. */
  dropWaiting: () => Promise<void>;
};

/** @property failedAt tells one failure of a job from the next; by a worker's clock, so not used to calculate times */
type FailedJob = { id: string; failedAt: string };

/**
 * @property made how often the job has been attempted
 * @property failsByItself its plants cannot be processed, or its workers do not survive it: what else happens in the
 * system does not change that
 */
type Attempts = { made: number; failsByItself: boolean };

type Retry =
  | 'retried'
  /** It named several commits: each has its own job now, so that one that fails again does not delay others. */
  | 'split'
  /** It names no commit, so it is not a creation job and is left as it is. */
  | 'foreign'
  /** Only its id is left, or another relay has already retried it. */
  | 'gone';
