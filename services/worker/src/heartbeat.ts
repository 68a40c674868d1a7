import type { WorkerReport } from '@plant-store/contracts/process-report';
import { VERSION } from '@plant-store/platform/process/version';
import { publishHeartbeats } from '@plant-store/platform/redis/heartbeats';
import type { Redis } from 'ioredis';

/** Kept as metrics elsewhere. */
export type WorkerFigures = Pick<WorkerReport, 'jobsFailed' | 'indexLag' | 'auditLag'>;

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
  figures: () => Promise<WorkerFigures>,
): WorkerHeartbeat {
  const started = now();
  let jobsInHand = 0;
  let batches = 0;
  let lastBatch: number | undefined;
  const reports = publishHeartbeats(
    redis,
    prefix,
    async (): Promise<WorkerReport> => ({
      service: 'worker',
      name,
      version: VERSION,
      upMs: now() - started,
      jobsInHand,
      batches,
      ...(lastBatch !== undefined && { sinceBatchMs: now() - lastBatch }),
      ...(await figures()),
    }),
  );
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
