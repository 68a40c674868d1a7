import { AUDIT_BLOCKS, PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatusWords } from '../../services/ops/src/status/status-words.ts';
import { createIndexes } from '../harness/servers/create-indexes.ts';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { openQueue } from './creation-queue.ts';
import { type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

const database = testDatabase();
const redis = testQueue();
const MINUTE_MS = 60_000;

let ops: RunningConsole;
let mongo: MongoClient;
let queue: ReturnType<typeof openQueue>;
let vera: Visitor;
beforeAll(async () => {
  mongo = new MongoClient(database.url);
  queue = openQueue(redis);
  // Otherwise the verdict may be about a missing index.
  await createIndexes(mongo.db());
  ops = await startConsole({ MONGODB_URL: database.url, REDIS_URL: redis.url, QUEUE_PREFIX: redis.prefix });
  vera = await signedIn(ops, viewer);
});
afterAll(async () => {
  await ops.close();
  await queue.close();
  await mongo.close();
});

test('an empty system is well, has no workers and no audit block', async () => {
  const { facts, chains } = await status(({ verdict }) => verdict.headline === 'No worker is connected');
  expect(facts.plants.text).toBe('0');
  expect(facts).toMatchObject({
    pending: { text: '0', note: 'all are indexed and audited' },
    oldestWaiting: { text: 'none' },
    waiting: { text: '0' },
    failed: { text: '0' },
  });
  expect(chains).toEqual([]);
});

test('the page and the metrics tell what is stored, pending, sealed and queued', async () => {
  const before = new Date(Date.now() - 5 * MINUTE_MS);
  const plant = (id: bigint, created: Date) => ({
    _id: id,
    name: 'fern',
    created,
    commit: ObjectId.createFromTime(created.getTime() / 1_000),
    by: { sub: 'gardener' },
    from: { address: '192.0.2.1', request: 'r', instance: 'i' },
  });
  await mongo
    .db()
    .collection<PlantDocument>(PLANTS)
    .insertMany([
      plant(1n, before),
      { ...plant(2n, before), pending: true },
      { ...plant(3n, new Date()), pending: true },
    ]);
  const block = (chain: number, height: number, entries: number) => ({
    chain,
    height,
    entries: Array.from({ length: entries }, (_, index) => ({ event: `${chain}-${height}-${index}` })),
    time: before,
  });
  /** A block that somebody changed is shown as it is, and hides nothing else. */
  const changed = { chain: 2, height: 1, entries: 'none' };
  await mongo
    .db()
    .collection(AUDIT_BLOCKS)
    .insertMany([block(0, 1, 4), block(0, 2, 3), block(1, 7, 1), changed]);
  await queue.failedJob('f'.repeat(24));
  await queue.queue.add('plants.created', { version: 1, commit: '0'.repeat(24), plants: 2 });

  const { facts, chains } = await status(
    ({ facts }) => facts.waiting.text === '1' && facts.plants.text === '3',
  );
  expect(facts.pending).toEqual({
    text: '2',
    note: expect.stringMatching(/^the oldest for 5\smin/),
    level: 'warn',
  });
  expect(facts.failed).toEqual({ text: '1', level: 'warn' });
  expect(facts.oldestWaiting.text).toMatch(/^\d+(?:\.\d)?\ss$/);
  expect(chains).toEqual([
    { chain: '0', height: '2', entries: '3', sealed: expect.stringMatching(/^5\smin\s\d+\ss ago$/) },
    { chain: '1', height: '7', entries: '1', sealed: expect.stringMatching(/ago$/) },
    { chain: '2', height: '1', entries: '0', sealed: 'unknown' },
  ]);

  const page = await (await vera.see('/')).text();
  expect(page).toContain('No worker is connected');
  expect(page).toMatch(
    /data-fact="pending" data-level="warn">\s*<h2>Pending<\/h2>\s*<p class="figure" data-text>2</,
  );

  expect(await ops.metric('plants_mongodb_up')).toBe(1);
  expect(await ops.metric('plants_redis_up')).toBe(1);
  expect(await ops.metric('plants_queue_jobs{state="waiting"}')).toBe(1);
  expect(await ops.metric('plants_queue_jobs{state="failed"}')).toBe(1);
  expect(await ops.metric('plants_queue_oldest_waiting_seconds')).toBeGreaterThan(0);
  expect(await ops.metric('plants_pending')).toBe(2);
  expect(await ops.metric('plants_pending_oldest_seconds')).toBeGreaterThanOrEqual(300);
});

test('a worker that connects is seen, and a paused queue is said first', async () => {
  await queue.queue.pause();
  await using _worker = queue.idleWorker();
  const { verdict, facts } = await status(({ facts }) => facts.workers.level === undefined);
  expect(verdict).toMatchObject({ level: 'warn', headline: 'The queue is paused' });
  expect(facts.oldestWaiting.note).toBe('the queue is paused');
  expect(await ops.metric('plants_queue_paused')).toBe(1);
  expect(await ops.metric('plants_queue_workers')).toBe(1);
});

/** The status once it is so; the console shares one reading among all who look within a second. */
function status(isSo: (words: StatusWords) => boolean): Promise<StatusWords> {
  return waitFor(
    async () => {
      const words = (await (await vera.call('/status')).json()) as StatusWords;
      if (!isSo(words)) throw new Error(JSON.stringify(words));
      return words;
    },
    { withinMs: 15_000, what: 'the status' },
  );
}
