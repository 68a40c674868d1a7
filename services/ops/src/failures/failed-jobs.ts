import { readCreationJob } from '@plant-store/contracts/creation-job';
import type { Job, Queue } from 'bullmq';

/** A job has up to some KB, and another program's may have far more: so few are in memory at once. */
const PAGE_JOBS = 200;

/** The failed jobs, at most so many of them. A job that is retried meanwhile may hide another one. */
export async function* failedJobs(
  queue: Queue,
  { jobsMax, oldestFirst = false }: { jobsMax: number; oldestFirst?: boolean },
): AsyncGenerator<Job> {
  for (let first = 0; first < jobsMax; first += PAGE_JOBS) {
    const last = Math.min(first + PAGE_JOBS, jobsMax) - 1;
    const page = await queue.getJobs(['failed'], first, last, oldestFirst);
    yield* page.filter(Boolean);
    if (page.length <= last - first) return;
  }
}

/** Has failed jobs taken again at once. @returns how many of them still had to be retried */
export async function retryFailed(queue: Queue, ids: readonly string[]): Promise<number> {
  let retried = 0;
  for (let first = 0; first < ids.length; first += PAGE_JOBS) {
    const page = await Promise.allSettled(
      ids.slice(first, first + PAGE_JOBS).map(async (id) => {
        const job = await queue.getJob(id);
        if (job === undefined) throw new Error('it is done');
        await job.retry('failed');
      }),
    );
    retried += page.filter(({ status }) => status === 'fulfilled').length;
  }
  return retried;
}

/** The commits that a job names; none where it is no creation job. */
export function commitsOf({ id = '', data }: Job): string[] {
  return readCreationJob(id, data).commits.map(({ commit }) => commit);
}
