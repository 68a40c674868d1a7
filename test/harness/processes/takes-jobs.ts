import type { Redis } from 'ioredis';

/** Whether the worker of this name is connected to take jobs. It reports already before that. */
export async function takesJobs(redis: Redis, name: string): Promise<boolean> {
  return String(await redis.client('LIST')).includes(`:w:${name} `);
}
