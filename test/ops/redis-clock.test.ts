import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createRedisReader } from '../../services/ops/src/status/reading/redis-status.ts';
import { tcpProxy } from '../harness/network/tcp-proxy.ts';
import { testQueue } from '../harness/servers/servers.ts';

const queue = testQueue();
const SLOW_MS = 800;

test('an answer of Redis that comes late is no clock that is off', async () => {
  await using proxy = await tcpProxy(Number(new URL(queue.url).port));
  const redis = new Redis(`redis://127.0.0.1:${proxy.port}`);
  try {
    const read = createRedisReader(redis);
    await read();
    proxy.delay(SLOW_MS);
    const began = performance.now();
    expect(await read()).toMatchObject({ clockAheadMs: 0 });
    expect(performance.now() - began).toBeGreaterThan(SLOW_MS);
  } finally {
    redis.disconnect();
  }
});
