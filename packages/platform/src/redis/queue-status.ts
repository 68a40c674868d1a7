import type { Queue } from 'bullmq';

export type QueueStatus = {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
  paused: boolean;
  /** Age of the oldest waiting job, by its producer's clock; 0 when none waits. Only for display. */
  oldestWaitingMs: number;
};

/** @throws when Redis does not answer. */
export async function readQueueStatus(queue: Queue): Promise<QueueStatus> {
  const [counts, paused, [oldest]] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    queue.isPaused(),
    queue.getJobs(['wait'], 0, 0, true),
  ]);
  const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
  const oldestWaitingMs = oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.timestamp);
  return { waiting, active, delayed, failed, paused, oldestWaitingMs };
}
