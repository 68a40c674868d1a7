import { expect, test } from 'vitest';
import { readWorkerConfig } from './config.ts';

const required = { MONGODB_URL: 'mongodb://db/plants', REDIS_URL: 'redis://queue', INSTANCE: 'worker-1' };

test('without settings of its own a worker has the documented defaults', () => {
  expect(readWorkerConfig(required)).toEqual({
    config: {
      instance: 'worker-1',
      logLevel: 'info',
      internal: { host: '127.0.0.1', port: 0 },
      jobs: { queuePrefix: '{plantstore}', concurrency: 64 },
      relay: { intervalMs: 2_000, ageMs: 5_000 },
      auditing: { chains: 4 },
      anchoring: { intervalMs: 60_000 },
    },
    secrets: { mongodbUrl: 'mongodb://db/plants', redisUrl: 'redis://queue' },
  });
});

test('every fault is named in one message, and no secret is in it', () => {
  const faulty = {
    MONGODB_URL: 'mongodb://user:hush@db',
    WORKER_CONCURRENCY: '0',
    RELAY_AGE_MS: 'soon',
    AUDIT_CHAINS: '65',
    AUDIT_ANCHOR_KEY: 'hush, no key',
  };
  const read = () => readWorkerConfig(faulty);
  for (const name of ['REDIS_URL', 'WORKER_CONCURRENCY', 'RELAY_AGE_MS', 'AUDIT_CHAINS', 'AUDIT_ANCHOR_KEY'])
    expect(read).toThrow(name);
  expect(read).not.toThrow('hush');
});
