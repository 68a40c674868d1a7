import type { CreationQueue } from './creation-queue.ts';

/**
 * Tells up to which moment workers have caught up. They take jobs in the order of publication: once the newest job of
 * some moment no longer waits, no job published before it waits either. So the job of a commit that was due by that
 * moment has been taken or lost. A younger commit most likely still has a waiting job, and publishing it again would
 * double the backlog. When the queue is empty, workers have caught up with everything; a flushed Redis looks the same.
 */
export function createBacklog(
  queue: CreationQueue,
  now: () => number,
): { caughtUpTo: () => Promise<number> } {
  let marker: { jobId: string; at: number } | undefined;
  let caughtUpTo = Number.NEGATIVE_INFINITY;

  return {
    async caughtUpTo() {
      if (marker !== undefined && !(await queue.isWaiting(marker.jobId))) {
        caughtUpTo = marker.at;
        marker = undefined;
      }
      if (marker === undefined) {
        const at = now();
        const jobId = await queue.newestWaiting();
        if (jobId === undefined) caughtUpTo = at;
        else marker = { jobId, at };
      }
      return caughtUpTo;
    },
  };
}
