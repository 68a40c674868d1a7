import type { DatabaseStatus } from './reading/database-status.ts';
import type { QueueStatus } from './reading/queue-status.ts';
import type { WorkerStatus } from './reading/worker-status.ts';
import type { SystemStatus } from './status.ts';

/** A healthy, idle system; unit tests of the console change one thing in it. */
export const healthyDatabase: DatabaseStatus = {
  plants: 5,
  searchable: 5,
  backlog: { plants: 0, isCapped: false, oldestMs: 0, poison: 0 },
  chains: [],
  missingIndexes: [],
  diskUsed: 0.2,
  anchorAgeMs: undefined,
  clockAheadMs: 0,
};

export const healthyWorker: WorkerStatus = {
  name: 'worker-1',
  version: '1.0.0',
  state: 'idle',
  upMs: 3_600_000,
  jobsInHand: 0,
  batches: 7,
  sinceProgressMs: 1_000,
  sinceReportMs: 500,
  recentStarts: 0,
};

export const healthyQueue: QueueStatus = {
  waiting: 0,
  active: 0,
  delayed: 0,
  failed: 0,
  oldestWaitingMs: 0,
  paused: false,
  connections: 1,
  workers: [healthyWorker],
  reports: [],
  pause: undefined,
  unusual: {},
  foreignJobs: [],
  failureReasons: [],
  failedCommits: [],
  rateLimit: undefined,
  concurrency: undefined,
  haltedMs: undefined,
};

export const healthyStatus: SystemStatus = {
  at: new Date('2026-05-01T12:00:00Z'),
  database: healthyDatabase,
  queue: healthyQueue,
  redis: { faults: [], memoryUsed: undefined, clockAheadMs: 0 },
  faults: {},
  clocks: [],
};
