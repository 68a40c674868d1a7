import { redisTime } from '@plant-store/platform/redis/heartbeats';
import { redisMisconfigurations } from '@plant-store/platform/redis/redis';
import type { Redis } from 'ioredis';
import { clockAhead } from './clock-ahead.ts';
import { slowly } from './slowly.ts';

/** Interval for reading what seldom changes. */
const SELDOM_MS = 8_000;

export type RedisStatus = {
  /** Settings that let Redis drop jobs, in words. */
  faults: readonly string[];
  /** Share of maxmemory in use; undefined without a limit. */
  memoryUsed: number | undefined;
  /** How much Redis' clock is ahead of this machine's. */
  clockAheadMs: number;
};

/** The reader throws when Redis does not answer. */
export function createRedisReader(redis: Redis): () => Promise<RedisStatus> {
  const faults = slowly(SELDOM_MS, () => redisMisconfigurations(redis));
  return async () => {
    const [settings, memory, clockAheadMs] = await Promise.all([
      faults(),
      redis.info('memory'),
      clockAhead(() => redisTime(redis)),
    ]);
    const figures = new Map(memory.split('\r\n').map((line) => line.split(':') as [string, string]));
    const max = Number(figures.get('maxmemory') ?? 0);
    return {
      faults: settings,
      memoryUsed: max > 0 ? Number(figures.get('used_memory')) / max : undefined,
      clockAheadMs,
    };
  };
}
