import { open } from 'node:fs/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import {
  createRedis,
  isConnectionLost,
  producerConnection,
  redisAnswers,
} from '../../packages/platform/src/redis/redis.ts';
import { privateRedis } from '../harness/servers/private-servers.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';

needsServers();

test('a Redis that hangs does not answer, though its connection stays open', async () => {
  await using server = await privateRedis();
  const redis = createRedis(server.url, producerConnection, pino({ level: 'silent' }));
  try {
    await waitFor(() => redisAnswers(redis), { withinMs: 10_000, what: 'Redis answers' });
    server.signal('SIGSTOP');
    expect(await redisAnswers(redis)).toBe(false);
    expect(redis.status).toBe('ready');
    server.signal('SIGCONT');
    await waitFor(() => redisAnswers(redis), { withinMs: 10_000, what: 'Redis answers again' });
  } finally {
    redis.disconnect();
  }
});

test('a command that is under way when the connection is lost has lost its connection', async () => {
  await using server = await privateRedis();
  // The command must not end by its own time limit.
  const longTimeouts = { ...producerConnection, commandTimeout: 60_000 };
  const redis = createRedis(server.url, longTimeouts, pino({ level: 'silent' }));
  try {
    await waitFor(() => redisAnswers(redis), { withinMs: 10_000, what: 'Redis answers' });
    const single = redis.blpop('empty', 0).catch((error: unknown) => error);
    await server.kill();
    expect(isConnectionLost(await single)).toBe(true);
    await server.start();
    await waitFor(() => redisAnswers(redis), { withinMs: 10_000, what: 'Redis answers again' });
    const together = redis.pipeline().ping().blpop('empty', 0).exec();
    await server.kill();
    const outcomes = (await together.catch((error: unknown) => [[error]])) as [unknown][];
    const errors = outcomes.map(([error]) => error).filter((error) => error !== null);
    expect(errors).not.toEqual([]);
    for (const error of errors) expect(isConnectionLost(error)).toBe(true);
  } finally {
    redis.disconnect();
  }
});

test('a file that cannot be opened or written is no lost connection', async () => {
  const error = await open('/nowhere/anchors', 'a').catch((error: unknown) => error);
  expect(error).toMatchObject({ syscall: 'open' });
  expect(isConnectionLost(error)).toBe(false);
  expect(isConnectionLost(Object.assign(new Error('full'), { syscall: 'write' }))).toBe(false);
  expect(isConnectionLost(Object.assign(new Error('refused'), { syscall: 'connect' }))).toBe(true);
});
