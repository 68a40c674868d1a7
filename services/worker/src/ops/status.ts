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

export function createStatusReader(parts: { database: Db; queue: Queue; redis: Redis }): StatusReader {
  let latest: { status: Promise<SystemStatus>; readAt: number } | undefined;

  return () => {
    const now = performance.now();
    if (latest === undefined || now - latest.readAt > FRESH_MS) {
      latest = { status: read(parts), readAt: now };
    }
    return latest.status;
  };
}

async function read({
  database,
  queue,
  redis,
}: {
  database: Db;
  queue: Queue;
  redis: Redis;
}): Promise<SystemStatus> {
  const absent = () => undefined;
  const [databaseStatus, queueStatus] = await Promise.all([
    within(READ_MS_MAX, readDatabase(database)).catch(absent),
    /** A queue that was never connected waits for Redis instead of failing. */
    redis.status === 'ready' ? within(READ_MS_MAX, readQueue(queue)).catch(absent) : undefined,
  ]);
  return { database: databaseStatus, queue: queueStatus };
}
