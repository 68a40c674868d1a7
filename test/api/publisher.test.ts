import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { ObjectId } from 'mongodb';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CREATIONS_QUEUE, readCreationJob } from '../../packages/contracts/src/creation-job.ts';
import { createRedis, producerConnection } from '../../packages/platform/src/redis/redis.ts';
import { creationPublisher } from '../../services/api/src/queue/creation-publisher.ts';
import { type PrivateServer, privateRedis } from '../harness/servers/private-servers.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';

needsServers();
const PREFIX = '{publisher}';
let server: PrivateServer;
let redis: Redis;
let operator: Redis;
let queue: Queue;

const seen = { published: 0, leftToRelay: 0, queueErrors: 0 };
let publisher: ReturnType<typeof creationPublisher>;

beforeAll(async () => {
  // Of its own, to be stopped.
  server = await privateRedis();
  redis = createRedis(server.url, producerConnection, pino({ level: 'silent' }));
  operator = new Redis(server.url, { maxRetriesPerRequest: null });
  operator.on('error', () => {});
  queue = new Queue(CREATIONS_QUEUE, { connection: operator, prefix: PREFIX });
  queue.on('error', () => {});
  publisher = creationPublisher(redis, PREFIX, {
    published: (commits) => {
      seen.published += commits;
    },
    leftToRelay: (commits) => {
      seen.leftToRelay += commits;
    },
    queueError: () => {
      seen.queueErrors++;
    },
  });
  await untilReady();
});
afterEach(async () => {
  await queue.obliterate({ force: true });
  Object.assign(seen, { published: 0, leftToRelay: 0, queueErrors: 0 });
});
afterAll(async () => {
  await publisher?.close();
  redis?.disconnect();
  operator?.disconnect();
  await server?.close();
});

const untilReady = () =>
  waitFor(() => redis.status === 'ready', { withinMs: 10_000, what: 'Redis is there' });
const untilPublished = (commits: number) =>
  waitFor(() => seen.published === commits, { withinMs: 10_000, what: `${commits} commits are published` });
const commitIds = (count: number) => Array.from({ length: count }, () => new ObjectId().toHexString());

/** What the jobs on the queue name, the oldest first. */
const jobs = async () =>
  (await queue.getWaiting()).map(({ id = '', data }) => readCreationJob(id, data).commits);

test('commits that are stored shortly after each other share a job, whose id names the first', async () => {
  const commits = commitIds(10);
  for (const [index, commit] of commits.entries()) publisher.publish(commit, index + 1, undefined);
  await untilPublished(10);
  expect(await jobs()).toEqual([commits.map((commit, index) => ({ commit, plants: index + 1 }))]);
  expect((await queue.getWaiting())[0]?.id).toBe(`commit-${commits[0]}`);
});

test('a commit that is stored alone is published by itself, soon', async () => {
  for (const commit of commitIds(2)) {
    publisher.publish(commit, 1, undefined);
    await waitFor(async () => (await jobs()).at(-1)?.[0]?.commit === commit, {
      withinMs: 5_000,
      what: 'it is published',
    });
  }
  expect(await jobs()).toHaveLength(2);
});

test.each([
  ['64 commits', 64, 1],
  ['2,000 plants', 4, 500],
])(
  'a job of %s is full: it goes at once, and the next commit begins another',
  async (_what, full, plants) => {
    const commits = commitIds(full + 1);
    for (const commit of commits) publisher.publish(commit, plants, undefined);
    await untilPublished(full + 1);
    expect((await jobs()).map((job) => job.length)).toEqual([full, 1]);
  },
);

test('a job carries the trace of the first recorded request of its commits, else of the first, and of no other job', async () => {
  const trace = (digit: string, flags: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`;
  const groups = [
    [undefined, trace('2', '00'), trace('3', '01'), trace('4', '01')],
    [trace('5', '00'), trace('6', '00')],
    [undefined],
  ];
  let published = 0;
  for (const group of groups) {
    for (const traceparent of group) publisher.publish(commitIds(1)[0] as string, 1, traceparent);
    published += group.length;
    await untilPublished(published);
  }
  const traces = (await queue.getWaiting()).map(({ id = '', data }) => readCreationJob(id, data).traceparent);
  expect(traces).toEqual([trace('3', '01'), trace('5', '00'), undefined]);
});

test('what was collected is published when the publisher is closed', async () => {
  const closing = creationPublisher(redis, PREFIX, {
    published: () => {},
    leftToRelay: () => {},
    queueError: () => {},
  });
  const [commit] = commitIds(1) as [string];
  closing.publish(commit, 7, undefined);
  await closing.close();
  expect(await jobs()).toEqual([[{ commit, plants: 7 }]]);
});

test('with Redis away its commits are left to the relay, each counted once, and errors of the queue are not counted among them', async () => {
  publisher.publish(commitIds(1)[0] as string, 1, undefined);
  await untilPublished(1);
  await server.kill();
  await waitFor(() => seen.queueErrors > 0, { withinMs: 10_000, what: 'the queue has met the outage' });
  expect(seen.leftToRelay).toBe(0);
  for (const commit of commitIds(5)) publisher.publish(commit, 1, undefined);
  await waitFor(() => seen.leftToRelay > 0, { withinMs: 10_000, what: 'they are left to the relay' });
  expect(seen).toMatchObject({ published: 1, leftToRelay: 5 });
  await server.start();
  await untilReady();
});
