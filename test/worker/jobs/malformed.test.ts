import { BSONRegExp, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { untilNoJobIsLeft } from '../queue-states.ts';
import { pendingPlant, storeCommit } from '../stored-plants.ts';
import { workerUnderTest } from '../worker-under-test.ts';

/** A restored backup or a hand at the shell may have put anything into the collection. */
const system = workerUnderTest();
const { database, plants, publish, start } = system;

const commits: [string, (commit: ObjectId) => unknown][] = [
  ['an array of ObjectIds', (commit) => [commit, new ObjectId('f'.repeat(24))]],
  ['an empty array', () => []],
  ['a document', (commit) => ({ commit })],
  ['text', (commit) => commit.toHexString()],
  ['a number', () => 7],
  ['null', () => null],
];

test.each(commits)(
  'a pending document whose commit is %s stops neither relay nor worker',
  async (_what, odd) => {
    const { commit } = await storeCommit(plants, 3);
    const stray = { ...pendingPlant(new ObjectId()), commit: odd(new ObjectId(commit)) as never };
    await plants.insertOne(stray);
    const published = await storeCommit(plants, 3);
    await publish(published.commit, 3);
    const worker = await start();
    const but = [stray._id];
    await untilProcessed(database, { but });
    await expectProcessed(database, { but });
    await untilNoJobIsLeft(system);
    expect(await worker.metric('plants_jobs_total', 'outcome="failed"')).toBe(0);
  },
);

test('a stray document that is met among the plants of a commit is told of, once, and fails no job', async () => {
  const { commit } = await storeCommit(plants, 3);
  const stray = { ...pendingPlant(new ObjectId()), commit: [new ObjectId(commit)] as never };
  await plants.insertOne(stray);
  await publish(commit, 3);
  const worker = await start();
  const but = [stray._id];
  await untilProcessed(database, { but });
  // A commit whose job is still there is not added again.
  await untilNoJobIsLeft(system);
  await publish(commit, 3);
  await waitFor(async () => (await worker.metric('plants_poison_total')) >= 2, {
    withinMs: 10_000,
    what: 'it was met twice',
  });
  await untilNoJobIsLeft(system);
  expect(worker.log.filter((line) => line['plant'] === String(stray._id))).toEqual([
    expect.objectContaining({ reason: 'commit must be an ObjectId' }),
  ]);
});

test.each([
  ['an id that is no int64', { _id: { toString: 7 } }],
  ['claims that hold more than text', { by: { sub: 's', roles: ['admin'] } }],
  ['an origin that is an array', { from: ['192.0.2.7'] }],
  ['a name that is no regular expression of JavaScript', { name: new BSONRegExp('(?i)rose') }],
])('a plant with %s is poison, and delays none of its commit', async (_what, fields) => {
  const own = new ObjectId();
  const poison = { ...pendingPlant(own), ...(fields as object) };
  await plants.insertMany([pendingPlant(own), poison, pendingPlant(own)]);
  await publish(own.toHexString(), 3);
  const worker = await start();
  const but = [poison._id];
  await untilProcessed(database, { but });
  expect(await database.collection('plant_search').countDocuments()).toBe(2);
  expect(worker.log.filter(({ msg }) => msg === 'plant cannot be processed: it stays pending')).toHaveLength(
    1,
  );
});

test('a plant whose claims look like a type of the driver is poison, and delays none of its commit', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 3);
  const poison = stored[1]?._id as bigint;
  // The driver itself would not send such a document.
  const by = {
    $arrayToObject: [
      [
        ['sub', 's'],
        ['_bsontype', 'Int32'],
      ],
    ],
  };
  await plants.updateOne({ _id: poison }, [{ $set: { by } }]);
  await publish(commit, 3);
  await start();
  const but = [poison];
  await untilProcessed(database, { but });
  await expectProcessed(database, { but });
});
