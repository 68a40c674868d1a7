export type QueueStatus = {
  waiting: number;
  active: number;
  failed: number;
  delayed: number;
  paused: boolean;
  /** Of the job that has waited longest, by its announcer's clock: for display, never for a decision. */
  oldestWaitingMs: number;
};

/** The queue of creation jobs, seen from the worker's side. Every function throws while Redis is away. */
export type CreationQueue = {
  status: () => Promise<QueueStatus>;
  /** Announces commits again. A job that still waits or runs swallows the ring, which is right. */
  ring: (commits: ReadonlyMap<string, number>) => Promise<void>;
  /** Lets go of those commits' ids that some lost job holds without being in any list, so that rings count again. */
  releaseLost: (commits: readonly string[]) => Promise<number>;
  /** Drives failed jobs again, whatever they failed of. Answers how many. */
  retryFailed: (jobsMax: number) => Promise<number>;
  /** Drops all waiting jobs: their commits are marked in the database, and rung for later. */
  dropWaiting: () => Promise<void>;
};
