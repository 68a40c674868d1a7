import { VERSION } from '@plant-store/platform/process/version';
import { publishHeartbeats } from '@plant-store/platform/redis/heartbeats';
import type { Redis } from 'ioredis';

export type WorkerHeartbeat = AsyncDisposable & {
  jobTaken: () => void;
  jobEnded: () => void;
  batchProcessed: () => void;
};

/** Reports this worker's progress, so that the console can tell from outside whether it still works. */
export function startWorkerHeartbeat(
  redis: Redis,
  prefix: string,
  name: string,
  now: () => number,
): WorkerHeartbeat {
  const started = now();
  let jobsInHand = 0;
  let batches = 0;
  let lastBatch: number | undefined;
  const reports = publishHeartbeats(redis, prefix, () => ({
    name,
    version: VERSION,
    upMs: now() - started,
    jobsInHand,
    batches,
    ...(lastBatch !== undefined && { sinceBatchMs: now() - lastBatch }),
  }));
  return {
    jobTaken: () => {
      jobsInHand++;
    },
    jobEnded: () => {
      jobsInHand--;
    },
    batchProcessed: () => {
      batches++;
      lastBatch = now();
    },
    [Symbol.asyncDispose]: () => reports[Symbol.asyncDispose](),
  };
}
