import { Worker } from 'bullmq';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { creationJobId } from '../../../packages/contracts/src/creation-job.ts';
import { type PrivateServer, privateRedis } from '../../harness/servers/private-servers.ts';
import { testDatabase } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { loseData, untilNoJobIsLeft } from '../queue-states.ts';
import { storeCommit } from '../stored-plants.ts';
import { openSystem, type WorkerSystem } from '../worker-under-test.ts';

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

const storeCommits = (commits: number, plants: number) =>
  Promise.all(Array.from({ length: commits }, () => storeCommit(system.plants, plants)));

test('plants of commits that nobody published are indexed and audited all the same', async () => {
  const worker = await system.start();
  await storeCommits(20, 3);
  await untilProcessed(system.database);
  await expectProcessed(system.database);
  await untilNoJobIsLeft(system);
  expect(await worker.metric('plants_relay_published_total')).toBeGreaterThanOrEqual(20);
});

test('a commit is not published before it has been pending for long enough', async () => {
  const worker = await system.start({ RELAY_AGE_MS: '3000' });
  const stored = performance.now();
  await storeCommit(system.plants, 1);
  await waitFor(async () => (await worker.metric('plants_relay_published_total')) > 0, {
    withinMs: 10_000,
    what: 'the relay published the commit',
  });
  expect(performance.now() - stored).toBeGreaterThanOrEqual(3_000);
  await untilProcessed(system.database);
});

test('deleting all of Redis while jobs wait and are active delays, and changes nothing', async () => {
  const workers = await Promise.all([system.start(), system.start()]);
  for (let round = 0; round < 3; round++) {
    const commits = await storeCommits(100, 10);
    await Promise.all(commits.map(({ commit }) => system.publish(commit, 10)));
    await system.redis.flushall();
  }
  await untilProcessed(system.database);
  await expectProcessed(system.database);
  await untilNoJobIsLeft(system);
  for (const worker of workers) expect(worker.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('a waiting job whose data Redis evicted is done by its id, and its id is free afterwards', async () => {
  const { commit } = await storeCommit(system.plants, 2);
  await system.publish(commit, 2);
  await loseData(system, creationJobId(commit));
  await system.start({ RELAY_AGE_MS: '30000' });
  await untilProcessed(system.database);
  await untilNoJobIsLeft(system);
  await waitFor(async () => (await system.redis.exists(system.queue.toKey(creationJobId(commit)))) === 0, {
    withinMs: 5_000,
    what: 'nothing of the job is kept',
  });
});

test('the id of a lost job that is in no list any more keeps no publication out', async () => {
  const commits = await storeCommits(5, 2);
  for (const { commit } of commits) await system.publish(commit, 2);
  await system.redis.del(system.queue.toKey('wait'));
  const worker = await system.start();
  await untilProcessed(system.database, { withinMs: 20_000 });
  await expectProcessed(system.database);
  await untilNoJobIsLeft(system);
  expect(await worker.metric('plants_relay_orphans_removed_total')).toBe(5);
});

test('commits that a waiting backlog names are not published a second time', async () => {
  await system.queue.pause();
  const commits = await storeCommits(130, 2);
  for (let first = 0; first < commits.length; first += 10) {
    const shared = commits.slice(first, first + 10).map(({ commit }) => ({ commit, plants: 2 }));
    await system.publishTogether(shared);
  }
  const worker = await system.start();
  await waitFor(async () => (await worker.metric('plants_relay_pending_oldest_seconds')) > 3, {
    withinMs: 20_000,
    what: 'the relay has seen them pending for ten times as long as it lets a commit be',
  });
  expect(await worker.metric('plants_relay_published_total')).toBe(0);
  expect(await system.queue.getWaitingCount()).toBe(13);

  await system.queue.resume();
  await untilProcessed(system.database);
  await expectProcessed(system.database);
  await untilNoJobIsLeft(system);
  // Between the end of a job and the moment at which a majority has its clear, the relay may see the commit pending
  // and without a job: publishing it again does no harm.
  const again = await worker.metric('plants_relay_published_total');
  const more = (await worker.metric('plants_jobs_total', 'outcome="done"')) - 13;
  expect(more).toBeGreaterThanOrEqual(0);
  expect(more).toBeLessThanOrEqual(again);
});

test('commits of a shared job that another worker has in hand are not published a second time', async () => {
  const commits = await storeCommits(3, 1);
  await system.publishTogether(commits.map(({ commit }) => ({ commit, plants: 1 })));
  const inHand = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const other = new Worker(
    system.queue.name,
    async () => {
      inHand.resolve();
      await goOn.promise;
    },
    { connection: system.redis, prefix: system.queue.opts.prefix as string },
  );
  await inHand.promise;
  const worker = await system.start();
  await waitFor(async () => (await worker.metric('plants_relay_pending_oldest_seconds')) > 3, {
    withinMs: 20_000,
    what: 'the relay has seen them pending for ten times as long as it lets a commit be',
  });
  expect(await worker.metric('plants_relay_published_total')).toBe(0);

  // It ends its job without having done anything: now the commits have none.
  goOn.resolve();
  await other.close();
  await untilProcessed(system.database);
  await expectProcessed(system.database);
});

test('a commit whose job was lost is published once the backlog of its time has been taken', async () => {
  await system.queue.pause();
  await system.publishTogether((await storeCommits(3, 2)).map(({ commit }) => ({ commit, plants: 2 })));
  const lost = await storeCommit(system.plants, 2);
  const worker = await system.start();
  await waitFor(async () => (await worker.metric('plants_relay_pending_oldest_seconds')) > 1, {
    withinMs: 20_000,
    what: 'the relay has seen all of them',
  });
  expect(await worker.metric('plants_relay_published_total')).toBe(0);
  await system.queue.resume();
  await untilProcessed(system.database);
  expect(await system.plants.findOne({ commit: new ObjectId(lost.commit), pending: true })).toBeNull();
  expect(await worker.metric('plants_relay_published_total')).toBeGreaterThanOrEqual(1);
});

test('a queue that an operator paused is left paused, and its commits are done once it goes on', async () => {
  const worker = await system.start();
  await system.queue.pause();
  const { commit } = await storeCommit(system.plants, 1);
  await waitFor(async () => (await worker.metric('plants_relay_published_total')) === 1, {
    withinMs: 10_000,
    what: 'the relay published the commit',
  });
  expect(await system.queue.isPaused()).toBe(true);
  expect(await system.queue.getJobState(creationJobId(commit))).toBe('waiting');
  await system.queue.resume();
  await untilProcessed(system.database);
});
