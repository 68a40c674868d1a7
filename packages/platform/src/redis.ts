import { Redis, type RedisOptions } from 'ioredis';
import { ConfigurationError } from './configuration.ts';
import type { Logger } from './logger.ts';

const RECONNECT_MS_MAX = 1_000;
const retryStrategy = (attempt: number) => Math.min(attempt * 50, RECONNECT_MS_MAX);

/** After a failover an old primary answers READONLY: drop the connection and ask again. */
const reconnectOnError = (error: Error): 1 | false => (error.message.startsWith('READONLY') ? 1 : false);

/**
 * For whoever must never wait for Redis: a command fails at once while Redis is away and after 2 s when it hangs.
 * It may still be delivered later; every ring may come late or twice.
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
 * Connects in the background and reconnects for ever; errors are logged once an outage, not once an attempt.
 * @throws ConfigurationError when the address is no Redis URL.
 */
export function createRedis(url: string, options: Omit<RedisOptions, 'replyMapping'>, logger: Logger): Redis {
  if (!/^rediss?:\/\//.test(url))
    throw new ConfigurationError(['REDIS_URL must begin with redis:// or rediss://']);
  const redis = new Redis(url, options);
  let down = false;
  redis.on('error', (error) => {
    if (down) return;
    down = true;
    logger.warn({ err: { message: error.message } }, 'redis is unreachable: creations are announced later');
  });
  redis.on('ready', () => {
    if (down) logger.info('redis is back');
    down = false;
  });
  return redis;
}

/**
 * What would let Redis drop waiting jobs, in words for the operator; nothing is lost by it, since the relay rings
 * again. Settings that cannot be read (managed services forbid CONFIG) are no fault.
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
