/** What takes creation jobs from the queue. */
export type CreationWorker = {
  /** Milliseconds without a job in hand; 0 while there is one. */
  idleMs: () => number;
  /** Takes no further job and finishes those in hand, for a bounded time. */
  close: () => Promise<void>;
};
