import type { PendingCommit } from '@plant-store/contracts/creation-job';
import type { QueueStatus } from '@plant-store/platform/redis/queue-status';

/** The queue of creation jobs, seen from the worker's side. Every function throws while Redis is away. */
export type CreationQueue = {
  status: () => Promise<QueueStatus>;
  /** Of all jobs that wait, the one that was added last; workers take it last. */
  newestWaiting: () => Promise<string | undefined>;
  isWaiting: (jobId: string) => Promise<boolean>;
  /** The commits of the jobs that workers have in hand. */
  commitsInHand: () => Promise<ReadonlySet<string>>;
  /** Those of the commits whose job id is taken: `add` ignores a job with an id that Redis still holds. */
  taken: (commits: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Whether one of these commits' ids is taken by a job that is in no list any more, and so never comes. */
  anyOrphaned: (commits: readonly string[]) => Promise<boolean>;
  /** Removes all jobs that are in no list. Answers how many there were. */
  removeOrphaned: () => Promise<number>;
  /** Publishes creation jobs, each for so many commits. */
  publish: (jobs: readonly (readonly PendingCommit[])[]) => Promise<void>;
  /** A page of the failed jobs, those that failed first before the others. */
  failed: (start: number, jobsMax: number) => Promise<FailedJob[]>;
  /** How often each of these jobs has been attempted. */
  attempts: (jobIds: readonly string[]) => Promise<number[]>;
  /** What became of a failed job. */
  retry: (jobId: string) => Promise<Retry>;
  /** Drops all waiting jobs: their commits are pending in the database, and published again later. */
  dropWaiting: () => Promise<void>;
};

/** @property failedAt tells one failure of a job from the next; by the clock of some worker, so nothing is reckoned with it */
type FailedJob = { id: string; failedAt: string };

type Retry =
  | 'retried'
  /** It named several commits: each has a job of its own now, so that one which fails again delays no other. */
  | 'split'
  /** It names no commit, so it is none of ours, and is left as it is. */
  | 'foreign'
  /** Nothing is left of it but its id, or another relay was faster. */
  | 'gone';
