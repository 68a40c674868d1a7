import { type Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { waitFor } from '../harness/wait-for.ts';
import type { WorkerSystem } from './worker-under-test.ts';

export async function untilNoJobIsLeft({ queue }: { queue: Queue }): Promise<void> {
  await waitFor(
    async () => {
      const counts = await queue.getJobCounts();
      return (
        Object.values(counts).every((count) => count === 0) ||
        Promise.reject(new Error(JSON.stringify(counts)))
      );
    },
    { withinMs: 20_000, what: 'no job waits, is active or failed' },
  );
}

/** The oldest waiting job fails as one does that stalled too often: without any code of ours having seen it. */
export async function failWaitingJob({ queue, redis }: { queue: Queue; redis: Redis }): Promise<void> {
  const taker = new Worker(queue.name, null, { connection: redis, prefix: queue.opts.prefix as string });
  try {
    const job = await taker.getNextJob('token');
    await job?.moveToFailed(new Error('job stalled more than allowable limit'), 'token', false);
  } finally {
    await taker.close();
  }
}

/** What Redis lost of a job when it evicted the job's hash and kept its id. */
export async function loseData({ queue, redis }: WorkerSystem, jobId: string): Promise<void> {
  if ((await redis.del(queue.toKey(jobId))) !== 1) throw new Error(`${jobId} had no data`);
}
