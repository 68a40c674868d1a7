import { creationJobId } from '@plant-store/contracts/creation-job';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { commitsOf } from '../failures/failed-jobs.ts';
import type { JobPublication } from './plant-story.ts';

/** Jobs that are looked through for a commit that shares a job with others, whose id names another commit. */
const JOBS_READ_MAX = 500;

/** When a job in Redis that names the commit was published. Of a plant that is not processed yet there is one. */
export function readJobPublication({ queue, redis }: { queue: Queue; redis: Redis }): JobPublication {
  return async (commit) => {
    if (redis.status !== 'ready') return undefined;
    try {
      const own = await queue.getJob(creationJobId(commit));
      const job =
        own ??
        (await queue.getJobs(['active', 'failed', 'wait'], 0, JOBS_READ_MAX - 1)).find((other) =>
          commitsOf(other).includes(commit),
        );
      return job === undefined ? undefined : new Date(job.timestamp);
    } catch {
      // Redis went away: the rest of the story is in MongoDB.
      return undefined;
    }
  };
}
