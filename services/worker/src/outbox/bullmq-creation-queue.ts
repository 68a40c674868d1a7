import {
  CREATIONS_QUEUE,
  type CreationJob,
  creationJobId,
  creationJobOptions,
  PLANTS_CREATED,
} from '@plant-store/contracts/creation-job';
import { lazyQueue } from '@plant-store/platform/lazy-queue';
import type { Redis } from 'ioredis';
import type { CreationQueue } from './creation-queue.ts';

/**
 * The creation jobs in BullMQ.
 * @param redis a producer's connection: it fails commands at once while Redis is away, and soon when it hangs
 */
export function bullmqCreationQueue(
  redis: Redis,
  prefix: string,
  onError: (error: unknown) => void,
): CreationQueue & { close: () => Promise<void> } {
  const lazy = lazyQueue<CreationJob, typeof PLANTS_CREATED>(CREATIONS_QUEUE, redis, prefix, onError);

  async function queue() {
    if (redis.status !== 'ready') throw new Error('redis is unreachable');
    const opened = lazy.open();
    await opened.waitUntilReady();
    return opened;
  }

  return {
    async status() {
      const bullmq = await queue();
      const [counts, paused, [oldest]] = await Promise.all([
        bullmq.getJobCounts('waiting', 'active', 'failed', 'delayed'),
        bullmq.isPaused(),
        bullmq.getJobs(['wait'], 0, 0, true),
      ]);
      const { waiting = 0, active = 0, failed = 0, delayed = 0 } = counts;
      const oldestWaitingMs = oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.timestamp);
      return { waiting, active, failed, delayed, paused, oldestWaitingMs };
    },

    async ring(commits) {
      const bullmq = await queue();
      await bullmq.addBulk(
        [...commits].map(([commit, plants]) => ({
          name: PLANTS_CREATED,
          data: { version: 1, commit, plants },
          opts: { jobId: creationJobId(commit), ...creationJobOptions },
        })),
      );
    },

    async releaseLost(commits) {
      const bullmq = await queue();
      const released = await Promise.all(
        commits.map(async (commit) => {
          const id = creationJobId(commit);
          if ((await bullmq.getJobState(id)) !== 'unknown') return 0;
          return bullmq.remove(id);
        }),
      );
      return released.reduce((sum, count) => sum + count, 0);
    },

    async retryFailed(jobsMax) {
      const bullmq = await queue();
      const ids = await bullmq.getRanges(['failed'], 0, jobsMax - 1, true);
      const driven = await Promise.allSettled(
        ids.map(async (id) => {
          const job = await bullmq.getJob(id);
          // Redis evicted the job and kept its id: nothing to drive, and it would count as failed for ever.
          if (job === undefined) await bullmq.remove(id);
          else await job.retry('failed');
        }),
      );
      return driven.filter(({ status }) => status === 'fulfilled').length;
    },

    dropWaiting: async () => (await queue()).drain(),

    close: lazy.close,
  };
}
