import { Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { creationJobId } from '../../packages/contracts/src/creation-job.ts';
import { type PrivateServer, privateRedis } from '../harness/private-servers.ts';
import { testDatabase } from '../harness/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { expectSettled, untilSettled } from './settlement.ts';
import { storeCommit } from './stored-plants.ts';
import { openSystem, type WorkerSystem } from './worker-under-test.ts';

const target = testDatabase();
// A Redis of its own, to be flushed.
let server: PrivateServer;
let system: WorkerSystem;

beforeAll(async () => {
  server = await privateRedis();
  system = openSystem(target.url, server.url, '{relay}');
});
afterEach(async () => {
  await system.stopWorkers();
  await system.empty();
});
afterAll(async () => {
  await system?.close();
  await server?.close();
});

const noJobIsLeft = () =>
  waitFor(
    async () => {
      const counts = await system.queue.getJobCounts();
      return (
        Object.values(counts).every((count) => count === 0) ||
        Promise.reject(new Error(JSON.stringify(counts)))
      );
    },
    { withinMs: 20_000, what: 'no job waits, runs or failed' },
  );

const storeCommits = (commits: number, plants: number) =>
  Promise.all(Array.from({ length: commits }, () => storeCommit(system.plants, plants)));

test('plants that nobody announced are indexed and audited all the same', async () => {
  const worker = await system.start();
  await storeCommits(20, 3);
  await untilSettled(system.database);
  await expectSettled(system.database);
  await noJobIsLeft();
  expect(await worker.metric('plants_relay_rings_total')).toBeGreaterThanOrEqual(20);
});

test('a commit is not rung for before its marks are of age', async () => {
  const worker = await system.start({ RELAY_AGE_MS: '3000' });
  await storeCommit(system.plants, 1);
  await waitFor(async () => (await worker.metric('plants_pending_oldest_seconds')) > 1, {
    withinMs: 10_000,
    what: 'the mark has been seen for a second',
  });
  expect(await worker.metric('plants_relay_rings_total')).toBe(0);
  await untilSettled(system.database);
  expect(await worker.metric('plants_relay_rings_total')).toBe(1);
});

test('deleting all of Redis while jobs wait and run delays, and changes nothing', async () => {
  const workers = await Promise.all([system.start(), system.start()]);
  for (let round = 0; round < 3; round++) {
    const commits = await storeCommits(100, 10);
    await Promise.all(commits.map(({ commit }) => system.ring(commit, 10)));
    await system.redis.flushall();
  }
  await untilSettled(system.database);
  await expectSettled(system.database);
  await noJobIsLeft();
  for (const worker of workers) expect(worker.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('failed jobs are driven again and done', async () => {
  for (const { commit } of await storeCommits(3, 2)) await failedJob(commit);
  const worker = await system.start();
  await untilSettled(system.database);
  await noJobIsLeft();
  await expectSettled(system.database);
  expect(await worker.metric('plants_relay_retried_total')).toBe(3);
});

test('a failed job is driven again also when no mark is left anywhere', async () => {
  await failedJob('f'.repeat(24));
  await system.start();
  await noJobIsLeft();
});

test('a failed job whose data Redis evicted does not stay for ever', async () => {
  const { commit } = await storeCommit(system.plants, 2);
  await failedJob(commit);
  await system.redis.del(system.queue.toKey(creationJobId(commit)));
  await system.start();
  await untilSettled(system.database);
  await noJobIsLeft();
});

test('a waiting job whose data Redis evicted is done by its id, and its id is free afterwards', async () => {
  const { commit } = await storeCommit(system.plants, 2);
  await system.ring(commit, 2);
  await system.redis.del(system.queue.toKey(creationJobId(commit)));
  await system.start({ RELAY_AGE_MS: '30000' });
  await untilSettled(system.database);
  await noJobIsLeft();
  await waitFor(async () => (await system.redis.exists(system.queue.toKey(creationJobId(commit)))) === 0, {
    withinMs: 5_000,
    what: 'nothing of the job is kept',
  });
});

test('an id that a lost job holds without being in any list does not swallow rings for ever', async () => {
  const commits = await storeCommits(5, 2);
  for (const { commit } of commits) await system.ring(commit, 2);
  await system.redis.del(system.queue.toKey('wait'));
  const worker = await system.start();
  await untilSettled(system.database, { withinMs: 20_000 });
  await expectSettled(system.database);
  await noJobIsLeft();
  expect(await worker.metric('plants_relay_released_total')).toBe(5);
});

test('marks of more pages than one sweep looks at are all rung for', async () => {
  const commits = 300;
  await storeCommits(commits, 50);
  const worker = await system.start();
  await untilSettled(system.database, { withinMs: 60_000 });
  await expectSettled(system.database);
  expect(await worker.metric('plants_relay_rings_total')).toBeGreaterThanOrEqual(commits);
}, 90_000);

test('a queue that an operator paused is left paused, and its commits are done once it goes on', async () => {
  const worker = await system.start();
  await system.queue.pause();
  const { commit } = await storeCommit(system.plants, 1);
  await waitFor(async () => (await worker.metric('plants_relay_rings_total')) >= 2, {
    withinMs: 10_000,
    what: 'the relay rang',
  });
  expect(await system.queue.isPaused()).toBe(true);
  expect(await system.queue.getJobState(creationJobId(commit))).toBe('waiting');
  await system.queue.resume();
  await untilSettled(system.database);
});

/** A job that failed as one does that stalled too often: without any code of ours having run. */
async function failedJob(commit: string): Promise<void> {
  await system.ring(commit, 1);
  const taker = new Worker(system.queue.name, null, { connection: system.redis, prefix: '{relay}' });
  try {
    const job = await taker.getNextJob('token');
    await job?.moveToFailed(new Error('job stalled more than allowable limit'), 'token', false);
  } finally {
    await taker.close();
  }
}
