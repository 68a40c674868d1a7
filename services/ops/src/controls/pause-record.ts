import type { Redis } from 'ioredis';

/** Who paused the queue, why, and until when. Stored in Redis, so that it survives a restart of the console. */
export type PauseRecord = { by: string; reason: string; until: Date };

const keyOf = (prefix: string) => `${prefix}:pause`;

export async function readPause(redis: Redis, prefix: string): Promise<PauseRecord | undefined> {
  const stored = await redis.get(keyOf(prefix));
  return stored === null ? undefined : parsePause(stored);
}

/** Undefined for what no console wrote: a paused queue then counts as paused with another tool. */
function parsePause(stored: string): PauseRecord | undefined {
  try {
    const { by, reason, until: end } = JSON.parse(stored) as Record<string, string>;
    const until = new Date(end ?? '');
    const isRecord = typeof by === 'string' && typeof reason === 'string' && !Number.isNaN(until.getTime());
    return isRecord ? { by, reason, until } : undefined;
  } catch {
    return undefined;
  }
}

export async function writePause(redis: Redis, prefix: string, record: PauseRecord): Promise<void> {
  await redis.set(keyOf(prefix), JSON.stringify(record));
}

export async function deletePause(redis: Redis, prefix: string): Promise<void> {
  await redis.del(keyOf(prefix));
}
