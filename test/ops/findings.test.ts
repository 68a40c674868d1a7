import { CREATIONS_QUEUE, creationJob } from '@plant-store/contracts/creation-job';
import { AUDIT_ANCHORS, AUDIT_BLOCKS, PLANTS } from '@plant-store/contracts/plant-document';
import { type JobsOptions, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { FindingWords, StatusWords } from '../../services/ops/src/status/status-words.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { takesJobs } from '../harness/processes/takes-jobs.ts';
import { type PrivateServer, privateMongod, privateRedis } from '../harness/servers/private-servers.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

needsServers();
/** What is wrong is found within 15 s; the rest is for a machine that is busy with other tests. */
const FOUND_MS_MAX = 25_000;
const PREFIX = '{findings}';
let mongod: PrivateServer;
let redisServer: PrivateServer;
let mongo: MongoClient;
let redis: Redis;
let queue: Queue;
let ops: RunningConsole;
let vera: Visitor;
const workers = new Set<Program>();

const environment = () => ({
  MONGODB_URL: `${mongod.url.replace(/\/\?/, '/findings?')}`,
  REDIS_URL: redisServer.url,
  QUEUE_PREFIX: PREFIX,
});

beforeAll(async () => {
  [mongod, redisServer] = await Promise.all([privateMongod(), privateRedis()]);
  mongo = new MongoClient(environment().MONGODB_URL);
  redis = new Redis(redisServer.url, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  queue = new Queue(CREATIONS_QUEUE, { connection: redis, prefix: PREFIX });
  queue.on('error', () => {});
  ops = await startConsole(environment());
  vera = await signedIn(ops, viewer);
});
afterEach(async () => {
  for (const worker of workers) await end(worker);
  await redis.flushall();
});
afterAll(async () => {
  await ops?.close();
  await queue?.close();
  redis?.disconnect();
  await mongo?.close();
  await mongod?.close();
  await redisServer?.close();
});

function publish(commit = new ObjectId(), more: JobsOptions = {}) {
  const { name, data, opts } = creationJob([{ commit: commit.toHexString(), plants: 1 }]);
  return queue.add(name, data, { ...opts, ...more });
}

test('no worker, and nothing any more once one runs', async () => {
  await found('no-worker');
  await startWorker('rose');
  // It makes the indexes that are missing as well.
  await waitFor(async () => (await findings()).length === 0, {
    withinMs: FOUND_MS_MAX,
    what: 'nothing is found any more',
  });
});

test('a worker whose process is stopped while jobs wait', async () => {
  const worker = await startWorker('fern');
  await gone('no-worker');
  worker.signal('SIGSTOP');
  await publish();
  const finding = await found('worker-silent:fern');
  expect(finding).toMatchObject({
    level: 'bad',
    headline: expect.stringMatching(/^fern is connected and does not respond/),
  });
});

test('a worker that crashes again and again', async () => {
  for (let start = 0; start < 4; start++) await end(await startWorker('moss'));
  await startWorker('moss');
  expect(await found('worker-restarts:moss')).toMatchObject({
    headline: expect.stringMatching(/^moss started [345] times within 5 minutes$/),
  });
});

test('a poison plant hides no backlog, nor does a pause', async () => {
  await startWorker('ivy');
  const created = new Date(Date.now() - 120_000);
  const pending = (commit: ObjectId) => ({ name: 'fern', created, commit, pending: true, by: { sub: 's' } });
  const poison = ObjectId.createFromTime(created.getTime() / 1_000);
  const plants = mongo.db().collection<{ _id: number }>(PLANTS);
  await plants.insertOne({ _id: 1, ...pending(poison), name: 7 } as { _id: number });
  await publish(poison);
  expect(await found('jobs-failed')).toMatchObject({ cause: expect.stringContaining('plant 1') });
  await queue.pause();
  await plants.insertOne({ _id: 2, ...pending(ObjectId.createFromTime(created.getTime() / 1_000 - 5)) } as {
    _id: number;
  });
  await found('queue-paused');
  await found('behind');
  await found('jobs-failed');
  await plants.deleteMany({});
});

test('a rate limit and a concurrency that somebody set on the queue', async () => {
  await queue.setGlobalConcurrency(1);
  expect(await found('queue-limited')).toMatchObject({
    headline: expect.stringContaining('at most 1 jobs at a time'),
  });
  await queue.removeGlobalConcurrency();
  await gone('queue-limited');
  await queue.setGlobalRateLimit(5, 60_000);
  expect(await found('queue-limited')).toMatchObject({
    headline: expect.stringContaining('at most 5 jobs in 1'),
  });
});

test('jobs of others, and jobs in states that nobody uses', async () => {
  await queue.add('mail', {});
  await publish(new ObjectId(), { delay: 600_000 });
  await publish(new ObjectId(), { priority: 3 });
  expect(await found('foreign-jobs')).toMatchObject({ headline: expect.stringContaining('mail') });
  expect(await found('jobs-in-unused-states')).toMatchObject({
    headline: expect.stringMatching(/1 delayed, 1 prioritized/),
  });
});

test('an index that was dropped', async () => {
  await startWorker('sage');
  await waitFor(async () => mongo.db().collection(AUDIT_BLOCKS).indexExists('event'), {
    withinMs: FOUND_MS_MAX,
    what: 'the indexes are built',
  });
  await mongo.db().collection(AUDIT_BLOCKS).dropIndex('event');
  expect(await found('index-missing')).toMatchObject({
    headline: 'Missing in MongoDB: the index audit_blocks.event',
  });
  await mongo
    .db()
    .collection(AUDIT_BLOCKS)
    .createIndex({ 'entries.event': 1 }, { name: 'event', unique: true });
  await gone('index-missing');
});

test('an anchor of the audit log that is late', async () => {
  const anchors = mongo.db().collection<{ _id: number }>(AUDIT_ANCHORS);
  const time = new Date(Date.now() - 200_000).toISOString();
  await anchors.insertOne({ _id: 1, time, emitted: true } as { _id: number });
  await found('anchor-late');
  await anchors.deleteMany({});
  await gone('anchor-late');
});

test('a Redis with the wrong policy, and one that is full', async () => {
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  expect(await found('redis-settings')).toMatchObject({ cause: expect.stringContaining('allkeys-lru') });
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await gone('redis-settings');
  await redis.config('SET', 'maxmemory', '1mb');
  await found('redis-full');
  await redis.config('SET', 'maxmemory', '0');
  await gone('redis-full');
});

test('a Redis that hangs, and one that is down', async () => {
  redisServer.signal('SIGSTOP');
  expect(await found('redis-unreachable')).toMatchObject({
    cause: expect.stringContaining('does not answer in time'),
  });
  redisServer.signal('SIGCONT');
  await gone('redis-unreachable');
  await redisServer.stop();
  await found('redis-unreachable', vera, ({ cause }) => cause === 'It takes no connection.');
  await redisServer.start();
  await gone('redis-unreachable');
});

test('a MongoDB that is down', async () => {
  await mongod.stop();
  // A reading that was under way may say that it does not answer in time.
  const isDown = ({ cause }: FindingWords) => cause === 'No member of the replica set answers.';
  expect(await found('mongodb-unreachable', vera, isDown)).toMatchObject({ level: 'bad' });
  await mongod.start();
  await gone('mongodb-unreachable');
});

test('a clock that is off', async () => {
  const late = 'const now = Date.now; Date.now = () => now() + 7_000;';
  const wrong = await startConsole({
    ...environment(),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(late)}`,
  });
  try {
    const visitor = await signedIn(wrong, viewer);
    for (const server of ['MongoDB', 'Redis']) {
      await found(`clock-off:${server}`, visitor, ({ headline }) => /differ by [678] s$/.test(headline));
    }
  } finally {
    await wrong.close();
  }
});

test('each finding leads to its section of the runbook', async () => {
  const { runbook } = await found('no-worker');
  const page = await (await vera.see(runbook)).text();
  expect(page).toContain(`<h2 id="${runbook.split('#')[1]}">No worker</h2>`);
});

async function startWorker(name: string): Promise<Program> {
  const reports = async () =>
    (await redis.hvals(`${PREFIX}:heartbeats`)).filter((report) => report.includes(name));
  const before = (await reports()).length;
  const worker = await startProgram('worker', { ...environment(), INSTANCE: name });
  workers.add(worker);
  await waitFor(async () => (await reports()).length > before && (await takesJobs(redis, name)), {
    withinMs: FOUND_MS_MAX,
    what: 'the worker reports and takes jobs',
  });
  return worker;
}

async function end(worker: Program): Promise<void> {
  workers.delete(worker);
  worker.signal('SIGKILL');
  await worker.ended;
}

async function findings(visitor = vera): Promise<FindingWords[]> {
  return ((await (await visitor.call('/status')).json()) as StatusWords).findings;
}

function found(
  key: string,
  visitor = vera,
  isSo: (finding: FindingWords) => boolean = () => true,
): Promise<FindingWords> {
  return waitFor(
    async () => {
      const all = await findings(visitor);
      const finding = all.find((candidate) => candidate.key === key && isSo(candidate));
      if (finding === undefined) throw new Error(JSON.stringify(all));
      return finding;
    },
    { withinMs: FOUND_MS_MAX, what: `${key} is found` },
  );
}

async function gone(key: string): Promise<void> {
  await waitFor(async () => (await findings()).every((finding) => finding.key !== key), {
    withinMs: FOUND_MS_MAX,
    what: `${key} is found no longer`,
  });
}
