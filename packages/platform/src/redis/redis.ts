import { Redis, type RedisOptions } from 'ioredis';
import { within } from '../concurrency/within.ts';
import { ConfigurationError } from '../configuration/configuration.ts';
import type { Logger } from '../process/logger.ts';
import { outageLog } from '../process/outage-log.ts';

const RECONNECT_MS_MAX = 1_000;
const ANSWER_MS_MAX = 1_000;
const retryStrategy = (attempt: number) => Math.min(attempt * 50, RECONNECT_MS_MAX);

/**
 * Why Redis refuses a write. Redis 7 begins its message with the code; Redis 6.2 puts a script's error into a sentence
 * ("ERR Error running script … -OOM command not allowed …").
 */
export function refusalOf(error: Error): 'full' | 'read-only' | undefined {
  if (/(?:^|-)OOM /.test(error.message)) return 'full';
  if (/(?:^|-)READONLY /.test(error.message)) return 'read-only';
  return undefined;
}

/** The system calls of a connection; those of a file have others, `read` apart. */
const CONNECTION_CALLS: ReadonlySet<unknown> = new Set(['connect', 'read', 'getaddrinfo']);

/** The last two are of commands that were under way when the connection was lost. */
const CONNECTION_LOST =
  /Connection is closed|enableOfflineQueue|redis is unreachable|max retries per request|aborted due to connection close/;

/** Whether a command failed because its connection was lost or refused, which the connection itself logs. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('syscall' in error && CONNECTION_CALLS.has(error.syscall)) || CONNECTION_LOST.test(error.message);
}

/** Whether Redis answers within a second. A connection may stay open to a Redis that hangs, so its state does not tell. */
export function redisAnswers(redis: Redis): Promise<boolean> {
  const answer = redis.ping().then(
    () => true,
    () => false,
  );
  return within(ANSWER_MS_MAX, answer, false);
}

/** After a failover an old primary refuses writes: drop the connection and ask again. */
const reconnectOnError = (error: Error): 1 | false => (refusalOf(error) === 'read-only' ? 1 : false);

/**
 * For callers that must never wait for Redis: a command fails at once while Redis is down, and after 2 s when Redis
 * does not answer. A command that timed out may still be executed, so a job may arrive late or twice.
 */
export const producerConnection = {
  enableOfflineQueue: false,
  commandTimeout: 2_000,
  connectTimeout: 1_000,
  maxRetriesPerRequest: 0,
  retryStrategy,
  reconnectOnError,
} as const satisfies RedisOptions;

/** For BullMQ workers, whose blocking reads must wait through any outage (BullMQ requires the null). */
export const workerConnection = {
  maxRetriesPerRequest: null,
  connectTimeout: 1_000,
  retryStrategy,
  reconnectOnError,
} as const satisfies RedisOptions;

/**
 * Connects in the background and reconnects for ever; an outage is logged once, not at each attempt.
 * @param logger undefined for a connection whose outages another one of the same process, or its caller, logs
 * @throws ConfigurationError when the address is no Redis URL.
 */
export function createRedis(
  url: string,
  options: Omit<RedisOptions, 'replyMapping'>,
  logger: Logger | undefined,
): Redis {
  if (!/^rediss?:\/\//.test(url))
    throw new ConfigurationError(['REDIS_URL must begin with redis:// or rediss://']);
  const redis = new Redis(url, options);
  if (logger === undefined) {
    redis.on('error', () => {});
    return redis;
  }
  const outage = outageLog(logger, {
    began: 'redis is unreachable: creations are published later',
    ended: 'redis is back',
  });
  redis.on('error', outage.fails);
  redis.on('ready', outage.works);
  return redis;
}

/**
 * Settings with which Redis could drop waiting jobs, as messages for the operator. No plant is lost by that, since the
 * relay publishes the jobs again. A setting that cannot be read (managed services forbid CONFIG) is not reported.
 */
export async function redisMisconfigurations(redis: Redis): Promise<string[]> {
  const faults: string[] = [];
  const setting = async (name: string) => {
    const reply = (await redis.config('GET', name).catch(() => [])) as string[];
    return reply[1];
  };
  const eviction = await setting('maxmemory-policy');
  if (eviction !== undefined && eviction !== 'noeviction') {
    faults.push(`maxmemory-policy is ${eviction}: set it to noeviction, or waiting jobs are evicted`);
  }
  const appendOnly = await setting('appendonly');
  if (appendOnly === 'no') faults.push('appendonly is no: set it to yes, or a restart loses waiting jobs');
  return faults;
}
