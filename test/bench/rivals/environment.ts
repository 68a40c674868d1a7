/** What every rival reads from its environment, as our services do. */
const { MONGODB_URL = '', REDIS_URL = '', QUEUE_PREFIX = '', AUTH_SECRET = '', PORT = '0' } = process.env;

export const environment = {
  mongodbUrl: MONGODB_URL,
  redisUrl: REDIS_URL,
  queuePrefix: QUEUE_PREFIX,
  authSecret: AUTH_SECRET,
  port: Number(PORT),
};

export const QUEUE = 'plant-creations';
/** Jobs that a worker holds at once. */
export const CONCURRENCY = 50;

/** The write concern that ours has. */
export const durable = { w: 'majority', journal: true } as const;

export type PlantCreated = { id: number; name: string; tag?: string | undefined };

/** What an index entry holds besides the plant: the words that it is found by. */
export function searchFields({ name, tag }: PlantCreated): { folded: string; words: string[] } {
  const words = `${name} ${tag ?? ''}`.toLowerCase().split(/\s+/).filter(Boolean);
  return { folded: name.toLowerCase(), words };
}
