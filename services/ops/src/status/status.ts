import type { Logger } from '@plant-store/platform/logger';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Db } from 'mongodb';
import { type DatabaseStatus, readDatabase } from './database-status.ts';
import { within } from './deadline.ts';
import { type QueueStatus, readQueue } from './queue-status.ts';

/** One look at the system; a part that gives no answer is undefined. */
export type SystemStatus = { database: DatabaseStatus | undefined; queue: QueueStatus | undefined };

/** Never rejects, and answers within READ_MS_MAX. */
export type StatusReader = () => Promise<SystemStatus>;

const READ_MS_MAX = 2_500;
/** Shared by everyone who looks within this time, so that many open pages cost what one does. */
const FRESH_MS = 1_000;

export function createStatusReader(
  { database, queue, redis }: { database: Db; queue: Queue; redis: Redis },
  logger: Logger,
): StatusReader {
  const databaseStatus = orAway('mongodb', () => readDatabase(database), logger);
  const queueStatus = orAway('redis', () => readConnectedQueue(queue, redis), logger);
  let latest: { status: Promise<SystemStatus>; readAt: number } | undefined;

  async function read(): Promise<SystemStatus> {
    const [database, queue] = await Promise.all([databaseStatus(), queueStatus()]);
    return { database, queue };
  }

  return () => {
    const now = performance.now();
    if (latest === undefined || now - latest.readAt > FRESH_MS) latest = { status: read(), readAt: now };
    return latest.status;
  };
}

/** A queue that was never connected would wait for Redis instead of failing. */
async function readConnectedQueue(queue: Queue, redis: Redis): Promise<QueueStatus> {
  if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
  return readQueue(queue);
}

/** Reads a part, or undefined when it gives no answer; says so in the log once an outage, not once a look. */
function orAway<T>(part: string, read: () => Promise<T>, logger: Logger): () => Promise<T | undefined> {
  let away = false;
  return async () => {
    try {
      const status = await within(READ_MS_MAX, read());
      if (away) logger.info({ part }, 'answers again');
      away = false;
      return status;
    } catch (error) {
      if (!away) logger.warn({ part, reason: (error as Error).message }, 'gives no answer');
      away = true;
      return undefined;
    }
  };
}
