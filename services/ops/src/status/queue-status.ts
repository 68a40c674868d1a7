import { type QueueStatus as QueueFigures, readQueueStatus } from '@plant-store/platform/queue-status';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { readWorkers, type WorkerStatus } from './worker-status.ts';

/** The states an operator asks about; completed jobs are not kept. */
export const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

export type QueueStatus = QueueFigures & {
  /** Workers connected to the queue; undefined where Redis does not tell (managed services forbid CLIENT LIST). */
  connections: number | undefined;
  workers: WorkerStatus[];
};

/** @throws when Redis does not answer in time. */
export async function readQueue(queue: Queue, redis: Redis, prefix: string): Promise<QueueStatus> {
  // A queue that was never connected would wait for Redis instead of failing.
  if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
  const clients = await queue.getWorkers();
  const [figures, workers] = await Promise.all([readQueueStatus(queue), readWorkers(redis, prefix, clients)]);
  return { ...figures, connections: clients.every(isConnection) ? clients.length : undefined, workers };
}

/** Where CLIENT LIST is forbidden BullMQ answers with one entry that has a name and no address. */
function isConnection(client: Record<string, string>): boolean {
  return client['addr'] !== undefined;
}
