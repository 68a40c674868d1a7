import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatusWords } from '../../services/ops/src/status/status-words.ts';
import { type PrivateServer, privateMongod, privateRedis } from '../harness/servers/private-servers.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { underLoadMs, waitFor } from '../harness/wait-for.ts';
import { operator, type RunningConsole, startConsole } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

needsServers();
const WARN = 40;
const ANSWER_MS_MAX = 5_000;
const RECOVERY_MS_MAX = 10_000;

let mongod: PrivateServer;
let redis: PrivateServer;
let ops: RunningConsole;
let olga: Visitor;

/** Both are down when the console starts, which it must survive. */
beforeAll(async () => {
  [mongod, redis] = await Promise.all([privateMongod(), privateRedis()]);
  await Promise.all([mongod.stop(), redis.stop()]);
  ops = await startConsole({ MONGODB_URL: mongod.url, REDIS_URL: redis.url });
  olga = await signedIn(ops, operator);
});
afterAll(async () => {
  await ops?.close();
  await mongod?.close();
  await redis?.close();
});

const BOARD = '/board/api/queues';

test('with both down at start the console serves, says so in clear words and shows no error; only it is not ready', async () => {
  expect(await readiness()).toBe(503);
  expect((await fetch(`${ops.internalUrl}/livez`)).status).toBe(200);
  const page = await answeredInTime(() => olga.see('/'));
  expect(page.status).toBe(200);
  const text = await page.text();
  expect(text).toContain('MongoDB is unreachable');
  expect(text).toContain('Redis is unreachable');
  expect(text).not.toMatch(/ECONNREFUSED|MongoServerSelectionError|node_modules/);

  const boardPage = await answeredInTime(() => olga.see('/board'));
  expect(boardPage.status).toBe(503);
  expect(await boardPage.text()).toContain('Redis is unreachable: the queue shows again once it is back.');
  const board = await answeredInTime(() => olga.call(BOARD));
  expect(board.status).toBe(503);
  expect(await board.json()).toEqual({
    error: 'Redis is unreachable: the queue shows again once it is back.',
  });

  expect(await ops.metric('plants_mongodb_up')).toBe(0);
  expect(await ops.metric('plants_redis_up')).toBe(0);
  for (const sample of ['plants_queue_jobs{state="waiting"}', 'plants_queue_paused', 'plants_pending'])
    expect(await ops.metric(sample), sample).toBeUndefined();
});

test('each is found by itself once it is there', async () => {
  await mongod.start();
  const { facts } = await status('Redis is unreachable');
  expect(await readiness()).toBe(200);
  expect(facts.plants.text).toBe('0');
  expect(facts.waiting.text).toBe('–');

  await redis.start();
  await status('No worker is connected');
  expect((await olga.call(BOARD)).status).toBe(200);
});

test('a Redis that dies is told as such, and the figures of MongoDB stay', async () => {
  await redis.kill();
  const { verdict, facts } = await status('Redis is unreachable');
  expect(verdict).toMatchObject({
    level: 'warn',
    advice: expect.stringContaining('Plants are created as usual'),
  });
  expect(facts.plants.text).toBe('0');
  expect((await answeredInTime(() => olga.call(BOARD))).status).toBe(503);

  await redis.start();
  await status('No worker is connected');
});

test('a Redis that hangs holds no answer back', async () => {
  redis.signal('SIGSTOP');
  try {
    const board = await answeredInTime(() => olga.call(BOARD));
    expect(board.status).toBe(503);
    expect(await board.text()).not.toMatch(/timed out|stack|node_modules/);
    await status('Redis is unreachable');
    const page = await answeredInTime(() => olga.see('/'));
    expect(await page.text()).toContain('Redis is unreachable');
  } finally {
    redis.signal('SIGCONT');
  }
  await status('No worker is connected');
  expect((await olga.call(BOARD)).status).toBe(200);
});

test('a MongoDB that hangs holds no answer back', async () => {
  mongod.signal('SIGSTOP');
  try {
    await status('MongoDB is unreachable');
    expect(await readiness()).toBe(503);
    const page = await answeredInTime(() => olga.see('/'));
    expect(await page.text()).toContain('MongoDB is unreachable');
  } finally {
    mongod.signal('SIGCONT');
  }
  await status('No worker is connected');
});

test('an outage has no other lines than its own and those of requests, whatever was under way when it began', () => {
  const complaints = ops
    .log()
    .filter(({ level, msg }) => Number(level) >= WARN && msg !== 'a request failed');
  expect(new Set(complaints.map(({ msg }) => msg))).toEqual(
    new Set(['MongoDB does not answer', 'Redis does not answer']),
  );
});

const readiness = async () => (await fetch(`${ops.internalUrl}/readyz`)).status;

async function answeredInTime(ask: () => Promise<Response>): Promise<Response> {
  const started = performance.now();
  const answer = await ask();
  expect(performance.now() - started).toBeLessThan(underLoadMs(ANSWER_MS_MAX));
  return answer;
}

function status(headline: string): Promise<StatusWords> {
  return waitFor(
    async () => {
      const words = (await (await olga.call('/status')).json()) as StatusWords;
      if (words.verdict.headline !== headline) throw new Error(words.verdict.headline);
      return words;
    },
    { withinMs: RECOVERY_MS_MAX, what: headline },
  );
}
