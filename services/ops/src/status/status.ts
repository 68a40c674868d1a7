import type { Logger } from '@plant-store/platform/logger';
import { within } from '@plant-store/platform/within';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Db } from 'mongodb';
import { type DatabaseStatus, readDatabase } from './database-status.ts';
import { type QueueStatus, readQueue } from './queue-status.ts';

/** The system at one moment; what gives no answer is undefined. */
export type SystemStatus = { database: DatabaseStatus | undefined; queue: QueueStatus | undefined };

/** Never rejects, and answers within READ_MS_MAX. */
export type StatusReader = () => Promise<SystemStatus>;

const READ_MS_MAX = 2_500;
/** One reading serves all requests within this time, so that many open pages cost what one does. */
const FRESH_MS = 1_000;

export function createStatusReader(
  { database, queue, redis, queuePrefix }: { database: Db; queue: Queue; redis: Redis; queuePrefix: string },
  logger: Logger,
): StatusReader {
  const databaseStatus = orUndefined('MongoDB', () => readDatabase(database), logger);
  const queueStatus = orUndefined('Redis', () => readQueue(queue, redis, queuePrefix), logger);
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

/** What is read, or undefined when no answer comes in time; logged once an outage, not once a reading. */
function orUndefined<T>(
  server: string,
  read: () => Promise<T>,
  logger: Logger,
): () => Promise<T | undefined> {
  let away = false;
  return async () => {
    const { status, reason } = await within<{ status?: T; reason?: string }>(
      READ_MS_MAX,
      read().then(
        (status) => ({ status }),
        (error: Error) => ({ reason: error.message }),
      ),
      { reason: `no answer within ${READ_MS_MAX} ms` },
    );
    if (reason !== undefined && !away)
      logger.warn({ server, reason }, `${server} does not answer: its figures are unknown`);
    if (reason === undefined && away) logger.info({ server }, `${server} answers again`);
    away = reason !== undefined;
    return status;
  };
}
