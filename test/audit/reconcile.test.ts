import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import type { SearchEntry } from '@plant-store/search/search-entry';
import { describe, expect, test } from 'vitest';
import { type Difference, reconcile } from '../../services/ops/src/plants/reconcile.ts';
import { waitFor } from '../harness/wait-for.ts';
import { storeCommit } from '../worker/stored-plants.ts';
import { workerUnderTest } from '../worker/worker-under-test.ts';

const MAIN = join(import.meta.dirname, '../../services/ops/src/commands/main.ts');
const { database, plants, start, publish, environment } = workerUnderTest();
const search = database.collection<SearchEntry>('plant_search');
const blocks = database.collection('audit_blocks');

async function compare(since?: Date): Promise<string[]> {
  const found: Difference[] = [];
  await reconcile(database, {
    ...(since && { since }),
    onDifference: (difference) => void found.push(difference),
    onProgress: () => {},
  });
  return found.map(({ kind, plant }) => `${plant} ${kind}`).toSorted();
}

const ops = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) =>
    execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { ...process.env, ...environment } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  );

async function processed(count: number): Promise<PlantDocument[]> {
  const { commit, plants: stored } = await storeCommit(plants, count);
  await publish(commit);
  await untilNothingPends();
  return stored;
}

const untilNothingPends = () =>
  waitFor(async () => (await plants.countDocuments({ pending: true })) === 0, {
    withinMs: 15_000,
    what: 'nothing is pending',
  });

test('a healthy system shows no difference, neither at rest nor while plants are created', async () => {
  await start();
  await processed(5);
  expect(await compare()).toEqual([]);
  let writing = true;
  const writer = (async () => {
    while (writing) {
      const { commit } = await storeCommit(plants, 20);
      await publish(commit);
    }
  })();
  try {
    for (let round = 0; round < 5; round++) expect(await compare()).toEqual([]);
  } finally {
    writing = false;
    await writer;
  }
  await untilNothingPends();
  expect(await ops('reconcile')).toMatchObject({ code: 0, out: expect.stringContaining('no difference') });
});

describe('differences', () => {
  test('each kind is told, by plant', async () => {
    await start();
    const stored = await processed(6);
    const id = (place: number) => stored[place]?._id as bigint;
    await search.deleteOne({ _id: id(0) });
    await search.updateOne({ _id: id(1) }, { $set: { name: 'other' } });
    await search.insertOne({ ...((await search.findOne({ _id: id(2) })) as SearchEntry), _id: 5n });
    await plants.updateOne({ _id: id(3) }, { $set: { name: 'other' } });
    await plants.deleteOne({ _id: id(4) });
    const { pending: _pending, ...sixth } = stored[5] as PlantDocument;
    await plants.insertOne({ ...sixth, _id: 6n });
    expect(await compare()).toEqual(
      [
        `${id(0)} not indexed`,
        `${id(1)} index differs`,
        '5 indexed, not stored',
        `${id(3)} index differs`,
        `${id(3)} audited otherwise`,
        `${id(4)} indexed, not stored`,
        `${id(4)} audited, not stored`,
        '6 not indexed',
        '6 not audited',
      ].toSorted(),
    );
  });

  test('what is pending or quarantined is no difference', async () => {
    const { plants: stored } = await storeCommit(plants, 2);
    await plants.updateOne({ _id: stored[0]?._id as bigint }, { $set: { pending: 'quarantined' } });
    expect(await compare()).toEqual([]);
  });

  test('since a time, older plants are left out', async () => {
    await start();
    const [old, recent] = (await processed(2)) as [PlantDocument, PlantDocument];
    await plants.updateOne({ _id: old._id }, { $set: { created: new Date(0) } });
    await search.deleteMany({});
    expect(await compare(new Date(1))).toEqual([`${recent._id} not indexed`]);
  });
});

test('--fix has running workers index and audit what is missing, once; what it cannot mend stays told', async () => {
  await start();
  const stored = await processed(3);
  const ids = stored.map(({ _id }) => _id);
  await search.deleteOne({ _id: ids[0] as bigint });
  expect(await ops('reconcile')).toMatchObject({ code: 1, out: expect.stringContaining('with --fix') });
  await blocks.deleteMany({});
  const fixed = await ops('reconcile', '--fix', '--json');
  expect(fixed.code).toBe(0);
  expect(JSON.parse(fixed.out)).toMatchObject({
    differences: { 'not indexed': 1, 'not audited': 3 },
    repaired: 3,
  });
  await untilNothingPends();
  expect(await compare()).toEqual([]);
  // Besides, the repair itself is an operator's action.
  const entries = (await blocks.find().toArray()).flatMap((block) => block['entries']);
  expect(entries.map(({ action }) => action).toSorted()).toEqual([
    'created',
    'created',
    'created',
    'reconciled',
  ]);

  await search.updateOne({ _id: ids[1] as bigint }, { $set: { name: 'other' } });
  expect(await ops('reconcile', '--fix')).toMatchObject({
    code: 1,
    out: expect.stringContaining('reindex mends'),
  });
});

test('--fix repairs by pages while it compares, and is one entry of the audit log', async () => {
  await storeCommit(plants, 1_500);
  await plants.updateMany({}, { $unset: { pending: true } });
  const { code, out } = await ops('reconcile', '--fix', '--json');
  // The first page of 1,000 is pending again when the audit log is compared.
  expect({ code, ...JSON.parse(out) }).toMatchObject({
    code: 0,
    differences: { 'not indexed': 1_500, 'not audited': 500 },
    repaired: 1_500,
  });
  expect(await plants.countDocuments({ pending: true })).toBe(1_500);
  const entries = (await blocks.find().toArray()).flatMap((block) => block['entries']);
  expect(entries).toMatchObject([{ action: 'reconciled', outcome: 'done', affected: 1_500 }]);
});
