import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import { searchPlants } from '@plant-store/search/search-plants';
import { expect, test } from 'vitest';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, readChains, untilProcessed } from '../processed.ts';
import { storeCommit } from '../stored-plants.ts';
import { workerUnderTest } from '../worker-under-test.ts';

const system = workerUnderTest();
const { database, plants, publish, start } = system;

/** The relay is out of the way, so that what these tests see was done by jobs alone. */
const jobsOnly = { RELAY_AGE_MS: '30000' };

test('a job has the plants of its commit indexed and audited exactly once, clears their pending flags and is gone', async () => {
  await start(jobsOnly);
  const { commit } = await storeCommit(plants, 25);
  await publish(commit, 25);
  await untilProcessed(database);
  await expectProcessed(database);
  await waitFor(async () => (await system.queue.getJob(`commit-${commit}`)) === undefined, {
    withinMs: 5_000,
    what: 'the job is gone',
  });
});

test('an index entry finds the plant by words, the beginning of its name, tag, id, request, commit and subject', async () => {
  await start(jobsOnly);
  const created = new Date('2026-05-06T07:08:09.010Z');
  const { commit, plants: stored } = await storeCommit(plants, 1, {
    name: 'Ångström Röschen',
    tag: 'Blüte',
    created,
  });
  await publish(commit);
  await untilProcessed(database);
  const id = stored[0]?._id as bigint;
  const indexes = { index: mongoTermIndex(database), audited: mongoAuditedIndex(database) };
  for (const question of [
    { text: 'roschen' },
    { text: 'blute ang' },
    { name: 'ÅNGSTROM RO' },
    { tag: 'Blüte', since: created },
    { id },
    { request: stored[0]?.from.request as string },
    { commit },
    { subject: stored[0]?.by.sub as string },
  ]) {
    const { plants: found } = await searchPlants(indexes, question);
    expect(found).toMatchObject([{ id, name: 'Ångström Röschen', tag: 'Blüte', created }]);
  }
});

test('a plant without a tag has none in its index entry', async () => {
  await start(jobsOnly);
  const { commit, plants: stored } = await storeCommit(plants, 1);
  await plants.updateOne({ _id: stored[0]?._id as bigint }, { $unset: { tag: '' } });
  await publish(commit);
  await untilProcessed(database);
  expect(await database.collection('plant_search').findOne()).not.toHaveProperty('tag');
});

test('an audit entry tells what, who, when and from where, and holds no token', async () => {
  await start(jobsOnly);
  const { commit, plants: stored } = await storeCommit(plants, 1);
  await publish(commit);
  await untilProcessed(database);
  const plant = stored[0];
  const [block] = await readChains(database);
  expect(block).toMatchObject({ version: 2, height: 1, sealer: expect.any(String), time: expect.any(Date) });
  expect(block?.entries).toEqual([
    {
      event: plant?._id,
      action: 'created',
      plant: plant?._id,
      content: expect.stringMatching(/^[0-9a-f]{64}$/),
      commit: plant?.commit,
      who: plant?.by,
      when: plant?.created,
      from: plant?.from,
    },
  ]);
});

test('extreme ids and any text come through unchanged', async () => {
  await start(jobsOnly);
  const odd = [
    { _id: -(2n ** 63n), name: '' },
    { _id: 2n ** 63n - 1n, name: '\u0000 null and 🌹' },
    { _id: 0n, name: 'Rosa', tag: '' },
  ];
  for (const fields of odd) await publish((await storeCommit(plants, 1, fields)).commit);
  await untilProcessed(database);
  await expectProcessed(database);
});

test('hundreds of jobs published at once are processed together, in far fewer blocks than jobs', async () => {
  const commits = [];
  for (let index = 0; index < 300; index++) commits.push((await storeCommit(plants, 3)).commit);
  await Promise.all(commits.map((commit) => publish(commit, 3)));
  const worker = await start(jobsOnly);
  await untilProcessed(database);
  await expectProcessed(database);
  expect(await worker.metric('plants_jobs_total', 'outcome="done"')).toBe(300);
  expect((await readChains(database)).length).toBeLessThan(100);
});

test('a commit larger than a page is processed in pages of one batch', async () => {
  await start(jobsOnly);
  const { commit } = await storeCommit(plants, 5_000);
  await publish(commit, 5_000);
  await untilProcessed(database);
  await expectProcessed(database);
  const blocks = await readChains(database);
  expect(Math.max(...blocks.map(({ entries }) => entries.length))).toBeLessThanOrEqual(2_000);
});

test('there is one log line a job, naming its commits, and none of them names a plant', async () => {
  const worker = await start(jobsOnly);
  const { commit, plants: stored } = await storeCommit(plants, 2);
  await publish(commit, 2);
  await waitFor(() => worker.log.some((line) => names(line, commit)), {
    withinMs: 10_000,
    what: 'the job is logged',
  });
  expect(worker.log.filter((line) => names(line, commit))).toEqual([
    expect.objectContaining({ msg: 'commits processed', plants: 2, ms: expect.any(Number) }),
  ]);
  expect(JSON.stringify(worker.log)).not.toContain(stored[0]?.name);
});

test('metrics tell jobs, plants, lag, batches, the queue and what is pending', async () => {
  const worker = await start(jobsOnly);
  const { commit } = await storeCommit(plants, 7);
  await publish(commit, 7);
  await untilProcessed(database);
  await waitFor(async () => (await worker.metric('plants_jobs_total', 'outcome="done"')) === 1, {
    withinMs: 5_000,
    what: 'the job is counted',
  });
  expect(await worker.metric('plants_indexed_total')).toBe(7);
  expect(await worker.metric('plants_audited_total')).toBe(7);
  expect(await worker.metric('plants_audit_blocks_total')).toBe(1);
  expect(await worker.metric('plants_index_lag_seconds_count')).toBe(7);
  expect(await worker.metric('plants_batch_plants_sum')).toBe(7);
  await storeCommit(plants, 4);
  await waitFor(async () => (await worker.metric('plants_relay_pending')) === 4, {
    withinMs: 5_000,
    what: 'the pending plants are counted',
  });
  await waitFor(async () => (await worker.metric('plants_relay_pending_oldest_seconds')) > 0.2, {
    withinMs: 5_000,
    what: 'their age grows',
  });
});

function names(line: Record<string, unknown>, commit: string): boolean {
  return Array.isArray(line['commits']) && line['commits'].includes(commit);
}
