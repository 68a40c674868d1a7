import { within } from '@plant-store/platform/concurrency/within';
import type { Logger } from '@plant-store/platform/process/logger';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Db } from 'mongodb';
import { createDatabaseReader, type DatabaseStatus, databaseFault } from './reading/database-status.ts';
import { rememberFailedCommits } from './reading/failed-commits.ts';
import { type QueueStatus, readQueue } from './reading/queue-status.ts';
import { createRedisReader, type RedisStatus } from './reading/redis-status.ts';

/** The system at one moment; a part that does not answer is undefined. */
export type SystemStatus = {
  at: Date;
  database: DatabaseStatus | undefined;
  queue: QueueStatus | undefined;
  redis: RedisStatus | undefined;
  /** Why a server gives no answer, as a sentence. */
  faults: { mongodb?: string; redis?: string };
  /** How much each server's clock is ahead of this machine's. */
  clocks: { server: string; aheadMs: number }[];
};

/** Never rejects, and answers within READ_MS_MAX. */
export type StatusReader = () => Promise<SystemStatus>;

const READ_MS_MAX = 2_500;
/** One reading serves all requests within this time, so that many open pages cost what one does. */
const FRESH_MS = 1_000;
const UNREADABLE_LOGGED_MAX = 10;

export type StatusSources = { database: Db; queue: Queue; redis: Redis; queuePrefix: string };

export function createStatusReader(
  { database, queue, redis, queuePrefix }: StatusSources,
  logger: Logger,
): StatusReader {
  const readDatabase = createDatabaseReader(database);
  const readRedis = createRedisReader(redis);
  /** From the previous reading, so that reading MongoDB does not wait for Redis. */
  const failedCommits = rememberFailedCommits(() => performance.now());
  const databaseAnswer = answerOf('MongoDB', () => readDatabase(failedCommits.all()), databaseFault, logger);
  const unreadable = logUnreadable(logger);
  const redisAnswer = answerOf(
    'Redis',
    async () => {
      const [status, server] = await Promise.all([
        readQueue(queue, redis, queuePrefix, unreadable),
        readRedis(),
      ]);
      return { status, server };
    },
    () => redisFault(redis),
    logger,
  );
  let latest: { status: Promise<SystemStatus>; readAt: number } | undefined;

  async function read(): Promise<SystemStatus> {
    const [mongodb, redis] = await Promise.all([databaseAnswer(), redisAnswer()]);
    failedCommits.seen(redis.value?.status.failedCommits ?? []);
    return {
      at: new Date(),
      database: mongodb.value,
      queue: redis.value?.status,
      redis: redis.value?.server,
      faults: {
        ...(mongodb.fault !== undefined && { mongodb: mongodb.fault }),
        ...(redis.fault !== undefined && { redis: redis.fault }),
      },
      clocks: [
        ...(mongodb.value === undefined ? [] : [{ server: 'MongoDB', aheadMs: mongodb.value.clockAheadMs }]),
        ...(redis.value === undefined ? [] : [{ server: 'Redis', aheadMs: redis.value.server.clockAheadMs }]),
      ],
    };
  }

  return () => {
    const now = performance.now();
    if (latest === undefined || now - latest.readAt > FRESH_MS) latest = { status: read(), readAt: now };
    return latest.status;
  };
}

/** Logs reports that cannot be read whenever there are more of them than before, not at every reading. */
function logUnreadable(logger: Logger): (processes: readonly string[]) => void {
  let known = 0;
  return (processes) => {
    if (processes.length > known) {
      const fields = { count: processes.length, processes: processes.slice(0, UNREADABLE_LOGGED_MAX) };
      logger.warn(fields, 'reports of processes cannot be read and are left out');
    }
    known = processes.length;
  };
}

function redisFault(redis: Redis): string {
  return redis.status === 'ready'
    ? 'It is connected and does not answer in time: it hangs, or is overloaded.'
    : 'It takes no connection.';
}

type Answer<T> = { value?: T; fault?: string };

/** The answer, or why there is none in time; logged once per outage, not at every reading. */
function answerOf<T>(
  server: string,
  read: () => Promise<T>,
  faultOf: (error: unknown) => string,
  logger: Logger,
): () => Promise<Answer<T>> {
  let away = false;
  return async () => {
    const answer = await within<Answer<T> & { reason?: string }>(
      READ_MS_MAX,
      read().then(
        (value) => ({ value }),
        (error: Error) => ({ fault: faultOf(error), reason: error.message }),
      ),
      { fault: faultOf(undefined), reason: `no answer within ${READ_MS_MAX} ms` },
    );
    const { fault, reason } = answer;
    if (fault !== undefined && !away) logger.warn({ server, fault, reason }, `${server} does not answer`);
    if (fault === undefined && away) logger.info({ server }, `${server} answers again`);
    away = fault !== undefined;
    return answer;
  };
}
