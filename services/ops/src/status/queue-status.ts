import type { Queue } from 'bullmq';

/** The states an operator asks about; completed jobs are not kept. */
export const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;
type JobState = (typeof JOB_STATES)[number];

export type QueueStatus = {
  jobs: Record<JobState, number>;
  /** Age of the job that has waited longest, by this machine's clock; 0 when none waits. */
  oldestWaitingMs: number;
  paused: boolean;
  /** Workers connected to the queue; undefined where Redis does not tell (managed services forbid CLIENT LIST). */
  workers: number | undefined;
};

/** @throws when Redis does not answer in time. */
export async function readQueue(queue: Queue): Promise<QueueStatus> {
  const [jobs, [oldest], paused, workers] = await Promise.all([
    queue.getJobCounts(...JOB_STATES),
    queue.getWaiting(0, 0),
    queue.isPaused(),
    queue.getWorkers(),
  ]);
  return {
    jobs: {
      waiting: jobs['waiting'] ?? 0,
      active: jobs['active'] ?? 0,
      delayed: jobs['delayed'] ?? 0,
      failed: jobs['failed'] ?? 0,
    },
    oldestWaitingMs: oldest === undefined ? 0 : Math.max(0, Date.now() - oldest.timestamp),
    paused,
    workers: workers.every(isConnection) ? workers.length : undefined,
  };
}

/** Where CLIENT LIST is forbidden BullMQ answers with one entry that has a name and no address. */
function isConnection(client: Record<string, string>): boolean {
  return client['addr'] !== undefined;
}
