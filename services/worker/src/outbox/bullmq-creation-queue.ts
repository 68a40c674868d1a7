import {
  CREATIONS_QUEUE,
  type CreationJobData,
  creationJob,
  creationJobId,
  type PLANTS_CREATED,
  readCreationJob,
} from '@plant-store/contracts/creation-job';
import { lazyQueue } from '@plant-store/platform/redis/lazy-queue';
import { readQueueStatus } from '@plant-store/platform/redis/queue-status';
import { ErrorCode } from 'bullmq';
import type { Redis } from 'ioredis';
import { POISONED } from '../jobs/pending-plants.ts';
import type { CreationQueue } from './creation-queue.ts';

/** BullMQ's reason for a job whose workers died or hung too often. */
const STALLED = 'job stalled more than allowable limit';

/** Keys that a scan for orphaned jobs looks at in one step. */
const SCANNED_AT_ONCE = 1_000;

/** Another relay or an operator has already changed the job. */
function isNoLongerFailed(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === ErrorCode.JobNotInState || code === ErrorCode.JobNotExist;
}

/**
 * The creation jobs in BullMQ.
 * @param redis a producer's connection: it fails commands at once while Redis is away, and soon when it hangs
 */
export function bullmqCreationQueue(
  redis: Redis,
  prefix: string,
  onError: (error: unknown) => void,
): CreationQueue & { close: () => Promise<void> } {
  const lazy = lazyQueue<CreationJobData, typeof PLANTS_CREATED>(CREATIONS_QUEUE, redis, prefix, onError);

  async function queue() {
    if (redis.status !== 'ready') throw new Error('redis is unreachable');
    const opened = lazy.open();
    await opened.waitUntilReady();
    return opened;
  }

  return {
    status: async () => readQueueStatus(await queue()),

    async newestWaiting() {
      const [newest] = await (await queue()).getRanges(['wait'], 0, 0);
      return newest;
    },

    isWaiting: async (jobId) => (await (await queue()).getJobState(jobId)) === 'waiting',

    async commitsInHand() {
      const jobs = await (await queue()).getActive();
      return new Set(
        jobs.flatMap(({ id, data }) => readCreationJob(id ?? '', data).commits.map(({ commit }) => commit)),
      );
    },

    async taken(commits) {
      const bullmq = await queue();
      const exists = redis.pipeline();
      for (const commit of commits) exists.exists(bullmq.toKey(creationJobId(commit)));
      const replies = (await exists.exec()) ?? [];
      const failure = replies.find(([error]) => error !== null);
      if (failure?.[0]) throw failure[0];
      return new Set(commits.filter((_, index) => replies[index]?.[1] === 1));
    },

    async anyOrphaned(commits) {
      const bullmq = await queue();
      const states = await Promise.all(commits.map((commit) => bullmq.getJobState(creationJobId(commit))));
      return states.includes('unknown');
    },

    removeOrphaned: async () => (await queue()).removeOrphanedJobs(SCANNED_AT_ONCE),

    async publish(jobs) {
      await (await queue()).addBulk(jobs.map((commits) => creationJob(commits)));
    },

    async failed(start, jobsMax) {
      const bullmq = await queue();
      const reply = await redis.zrange(
        bullmq.toKey('failed'),
        String(start),
        String(start + jobsMax - 1),
        'WITHSCORES',
      );
      return Array.from({ length: reply.length / 2 }, (_, index) => ({
        id: reply[2 * index] as string,
        failedAt: reply[2 * index + 1] as string,
      }));
    },

    async attempts(jobIds) {
      const bullmq = await queue();
      const read = redis.pipeline();
      for (const id of jobIds) read.hmget(bullmq.toKey(id), 'atm', 'failedReason');
      const replies = (await read.exec()) ?? [];
      return jobIds.map((_, index) => {
        const [made, reason] = (replies[index]?.[1] ?? []) as (string | null)[];
        return {
          made: Number(made ?? 0),
          failsByItself: reason?.startsWith(POISONED) === true || reason === STALLED,
        };
      });
    },

    async retry(jobId) {
      const bullmq = await queue();
      const job = await bullmq.getJob(jobId);
      if (job === undefined) {
        // Redis evicted the job but kept its id, which would count as a failed job for ever.
        await bullmq.remove(jobId);
        return 'gone';
      }
      const { commits } = readCreationJob(jobId, job.data);
      if (commits.length === 0) return 'foreign';
      if (commits.length > 1) {
        await bullmq.remove(jobId);
        await bullmq.addBulk(commits.map((commit) => creationJob([commit])));
        return 'split';
      }
      try {
        await job.retry('failed');
        return 'retried';
      } catch (error) {
        if (isNoLongerFailed(error)) return 'gone';
        throw error;
      }
    },

    dropWaiting: async () => (await queue()).drain(),

    close: lazy.close,
  };
}
