import { type QueueStatus, readQueueStatus } from '@plant-store/platform/queue-status';
import type { Queue } from 'bullmq';

/** The states an operator asks about; completed jobs are not kept. */
export const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

export type QueueAndWorkers = QueueStatus & {
  /** Workers connected to the queue; undefined where Redis does not tell (managed services forbid CLIENT LIST). */
  workers: number | undefined;
};

/** @throws when Redis does not answer in time. */
export async function readQueue(queue: Queue): Promise<QueueAndWorkers> {
  const [status, workers] = await Promise.all([readQueueStatus(queue), queue.getWorkers()]);
  return { ...status, workers: workers.every(isConnection) ? workers.length : undefined };
}

/** Where CLIENT LIST is forbidden BullMQ answers with one entry that has a name and no address. */
function isConnection(client: Record<string, string>): boolean {
  return client['addr'] !== undefined;
}
