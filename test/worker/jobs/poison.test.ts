import { ObjectId } from 'mongodb';
import { beforeEach, expect, test } from 'vitest';
import { creationJobId } from '../../../packages/contracts/src/creation-job.ts';
import type { PlantDocument } from '../../../packages/contracts/src/plant-document.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { pendingPlant, storeCommit } from '../stored-plants.ts';
import { workerUnderTest } from '../worker-under-test.ts';

const { database, plants, queue, publish, start } = workerUnderTest();

beforeEach(async () => {
  await database.collection('plant_search').drop();
  await database.collection('audit_blocks').drop();
});

const failedReason = (commit: string) =>
  waitFor(async () => (await queue.getJob(creationJobId(commit)))?.failedReason, {
    withinMs: 10_000,
    what: 'the job of the poison plant failed',
  });

/** Commits of three, the middle one's middle plant being poison, published at once so that one batch has them all. */
async function storeWithPoison(poison: Partial<PlantDocument> | object) {
  const before = await storeCommit(plants, 3);
  const own = new ObjectId();
  const members = [
    pendingPlant(own),
    { ...pendingPlant(own), ...poison } as PlantDocument,
    pendingPlant(own),
  ];
  await plants.insertMany(members, { writeConcern: { w: 'majority' } });
  const after = await storeCommit(plants, 3);
  const commits = [before.commit, own.toHexString(), after.commit];
  for (const commit of commits) await publish(commit, 3);
  return { commit: own.toHexString(), plant: members[1] as PlantDocument };
}

test.each([
  ['has no name', { name: undefined }, 'name must be a string'],
  ['was created at no date', { created: 'yesterday' }, 'created must be a date'],
  ['was created by nobody', { by: null }, 'by must be an object'],
  ['comes from nowhere', { from: 7 }, 'from must be an object'],
])('a plant that %s stays pending and visible; all others are processed', async (_what, poison, reason) => {
  const { commit, plant } = await storeWithPoison(poison);
  const worker = await start({ RELAY_AGE_MS: '30000' });
  const but = [plant._id];
  await untilProcessed(database, { but });
  await expectProcessed(database, { but });
  expect(await failedReason(commit)).toBe(
    `cannot be processed and stay pending: plant ${plant._id}: ${reason}`,
  );
  expect(worker.log).toContainEqual(
    expect.objectContaining({
      msg: 'plant cannot be processed: it stays pending',
      plant: String(plant._id),
      commit,
      reason,
    }),
  );
  expect(await worker.metric('plants_poison_total')).toBeGreaterThanOrEqual(1);
});

test('the log line about a poison plant carries the request that created it', async () => {
  const { plant } = await storeWithPoison({ tag: 7 });
  const worker = await start({ RELAY_AGE_MS: '30000' });
  await waitFor(() => worker.log.some((line) => line['request'] === plant.from.request), {
    withinMs: 10_000,
    what: 'the request is named',
  });
});

test('a plant whose index entry the database rejects fails alone, also when it is one of many', async () => {
  await database.createCollection('plant_search', { validator: { name: { $ne: 'rejected' } } });
  const { commit, plant } = await storeWithPoison({ name: 'rejected' });
  const large = await storeCommit(plants, 400);
  await publish(large.commit, 400);
  await start({ RELAY_AGE_MS: '30000' });
  const but = [plant._id];
  await untilProcessed(database, { but });
  await expectProcessed(database, { but });
  expect(await failedReason(commit)).toMatch(new RegExp(`plant ${plant._id}: Document failed validation`));
});

test('a plant that the database takes in no audit block is found by halving, and the others are audited', async () => {
  const { commit, plant } = await storeWithPoison({ by: { sub: 'rejected' } });
  await database.createCollection('audit_blocks', { validator: { 'entries.who.sub': { $ne: 'rejected' } } });
  const large = await storeCommit(plants, 400);
  await publish(large.commit, 400);
  await start({ RELAY_AGE_MS: '30000' });
  const but = [plant._id];
  await untilProcessed(database, { but });
  const audited = await database
    .collection('audit_blocks')
    .aggregate([{ $unwind: '$entries' }])
    .toArray();
  expect(audited).toHaveLength(2 + 3 + 3 + 400);
  expect(await failedReason(commit)).toMatch(new RegExp(`plant ${plant._id}: Document failed validation`));
});

test('a poison plant delays no plant that comes later, for as long as it stays', async () => {
  const { plant } = await storeWithPoison({ name: 5 });
  const but = [plant._id];
  const worker = await start();
  await untilProcessed(database, { but });
  for (let round = 0; round < 5; round++) {
    const { commit } = await storeCommit(plants, 5);
    await publish(commit, 5);
    await untilProcessed(database, { but, withinMs: 5_000 });
  }
  await expectProcessed(database, { but });
  await waitFor(async () => (await worker.metric('plants_relay_pending')) === 1, {
    withinMs: 5_000,
    what: 'the poison plant is shown as pending, and no other',
  });
});

test('a poison plant that is mended is processed by itself', async () => {
  const { plant } = await storeWithPoison({ name: 5 });
  await start();
  await untilProcessed(database, { but: [plant._id] });
  await plants.updateOne({ _id: plant._id }, { $set: { name: 'mended' } });
  await untilProcessed(database);
  await expectProcessed(database);
  await waitFor(async () => (await queue.getFailedCount()) === 0, {
    withinMs: 15_000,
    what: 'no job failed',
  });
});

test('a pending plant that names no commit stops neither the worker nor the relay', async () => {
  const [stray] = (await storeCommit(plants, 1)).plants;
  await plants.updateOne({ _id: stray?._id as bigint }, { $set: { commit: 'no commit' as never } });
  await storeCommit(plants, 3);
  await start();
  const but = [stray?._id as bigint];
  await untilProcessed(database, { but });
  await expectProcessed(database, { but });
});

test('a job that fails again and again keeps one stack trace, not all of them', async () => {
  const { commit } = await storeCommit(plants, 1, { name: 5 as never });
  await publish(commit);
  const worker = await start({ RELAY_AGE_MS: '30000' });
  for (let failures = 1; failures <= 4; failures++) {
    await waitFor(async () => (await worker.metric('plants_jobs_total', 'outcome="failed"')) === failures, {
      withinMs: 10_000,
      what: 'the job failed again',
    });
    await failedReason(commit);
    const job = await queue.getJob(creationJobId(commit));
    expect(job?.stacktrace).toHaveLength(1);
    await job?.retry('failed');
  }
});

test('many poison plants in one commit are named in a reason of bounded length', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 300, { name: 5 as never });
  await publish(commit, 300);
  await start({ RELAY_AGE_MS: '30000' });
  const reason = await failedReason(commit);
  expect(reason).toContain(`plant ${stored[0]?._id}`);
  expect(reason).toMatch(/and 290 more$/);
  expect(reason.length).toBeLessThan(3_000);
});
