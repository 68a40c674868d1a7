import type { CreationQueue } from './creation-queue.ts';

/**
 * Tells what workers have caught up with. They take jobs in the order of their publication: once the job that was the
 * newest at some moment waits no more, neither does any that was published before. So a commit that was due by then
 * has been taken or lost, and one that is younger is most likely named by a job that waits: to publish it again would
 * double the backlog. An empty queue has caught up with everything, which is also how a flushed Redis looks.
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
