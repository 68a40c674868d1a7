import type { Redis } from 'ioredis';

/** Who paused the queue, why, and until when. Stored in Redis, so that it survives a restart of the console. */
export type PauseRecord = { by: string; reason: string; until: Date };

const keyOf = (prefix: string) => `${prefix}:pause`;

export async function readPause(redis: Redis, prefix: string): Promise<PauseRecord | undefined> {
  const stored = await redis.get(keyOf(prefix));
  if (stored === null) return undefined;
  const { by, reason, until } = JSON.parse(stored) as { by: string; reason: string; until: string };
  return { by, reason, until: new Date(until) };
}

export async function writePause(redis: Redis, prefix: string, record: PauseRecord): Promise<void> {
  await redis.set(keyOf(prefix), JSON.stringify(record));
}

export async function deletePause(redis: Redis, prefix: string): Promise<void> {
  await redis.del(keyOf(prefix));
}
