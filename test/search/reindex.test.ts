import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import type { SearchEntry } from '@plant-store/search/search-entry';
import { searchPlants } from '@plant-store/search/search-plants';
import { expect, test } from 'vitest';
import { reindex } from '../../services/ops/src/search/reindex.ts';
import { takeReindex } from '../../services/ops/src/search/reindex-state.ts';
import { ledgerUnderTest } from '../audit/ledger-under-test.ts';
import { waitFor } from '../harness/wait-for.ts';

const MAIN = join(import.meta.dirname, '../../services/ops/src/commands/main.ts');
const { url, client, database, create } = ledgerUnderTest();
const search = database.collection<SearchEntry>('plant_search');
const plants = database.collection<PlantDocument>('plants');
const environment = { ...process.env, MONGODB_URL: url };

const indexedIds = async (collection = search) =>
  (await collection.find({}, { projection: { _id: 1 }, sort: { _id: 1 } }).toArray()).map(({ _id }) => _id);
const storedIds = async () =>
  (await plants.find({}, { projection: { _id: 1 }, sort: { _id: 1 } }).toArray()).map(({ _id }) => _id);

async function run(onProgress: (phase: string) => Promise<void> | void = () => {}) {
  await using store = await takeReindex(database, 'test', () => {});
  return await reindex({
    client,
    database,
    store,
    plantsPerSecond: 1_000_000,
    signal: new AbortController().signal,
    onProgress: (phase) => void onProgress(phase),
  });
}

const ops = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) =>
    execFile(process.execPath, [MAIN, ...args], { env: environment }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  );

test('the index is built anew: what is missing, wrong or too much in the old one is mended', async () => {
  const created = await create(0, ...Array.from({ length: 450 }, (_, place) => `Rose ${place}`));
  await search.deleteOne({ _id: created[0]?._id as bigint });
  await search.updateOne({ _id: created[1]?._id as bigint }, { $set: { terms: ['w:wrong'] } });
  await search.insertOne({ ...((await search.findOne()) as SearchEntry), _id: -1n });
  expect(await run()).toEqual({ plants: 450, skipped: 0 });
  expect(await indexedIds()).toEqual(await storedIds());
  const indexes = { index: mongoTermIndex(database), audited: mongoAuditedIndex(database) };
  expect((await searchPlants(indexes, { text: 'rose 1' }, { plantsMax: 1_000 })).plants).toHaveLength(111);
  expect(await database.collection('ops_state').countDocuments()).toBe(0);
});

test('plants that are created, indexed and audited meanwhile are all found afterwards', async () => {
  await create(0, ...Array.from({ length: 1_000 }, (_, place) => `Rose ${place}`));
  let writing = true;
  let written = 0;
  const writer = (async () => {
    while (writing) written += (await create(1 + (written % 3), 'Lily', 'Oak')).length;
  })();
  try {
    await run();
  } finally {
    writing = false;
    await writer;
  }
  expect(written).toBeGreaterThan(0);
  expect(await indexedIds()).toEqual(await storedIds());
});

test('a plant that a worker had indexed in the old index and not audited by the swap is found afterwards', async () => {
  const [audited, pending] = (await create(0, 'Rose', 'Lily')) as [PlantDocument, PlantDocument];
  await database.collection('audit_blocks').deleteMany({});
  await plants.updateOne({ _id: pending._id }, { $set: { pending: true } });
  await run();
  expect(await indexedIds()).toEqual([audited._id, pending._id]);
});

test('after kill -9 it goes on where it was, and while it runs another one is refused', async () => {
  await create(0, ...Array.from({ length: 900 }, (_, place) => `Rose ${place}`));
  await create(0, ...Array.from({ length: 900 }, (_, place) => `Lily ${place}`));
  const next = database.collection<SearchEntry>('plant_search_next');
  const first = spawn(process.execPath, [MAIN, 'reindex', '--rate', '200'], {
    env: environment,
    stdio: 'ignore',
  });
  await waitFor(async () => (await next.countDocuments()) >= 400, {
    withinMs: 20_000,
    what: 'some are copied',
  });
  const refused = await ops('reindex');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain(`a reindex is running already`);
  first.kill('SIGKILL');
  await once(first, 'exit');

  const copied = await next.countDocuments();
  const state = await database
    .collection<{ _id: string; copied: number }>('ops_state')
    .findOne({ _id: 'reindex' });
  expect(state?.copied).toBeGreaterThanOrEqual(Math.min(400, copied - 200));
  const firstEntry = await next.findOne({}, { sort: { _id: 1 } });
  const second = await ops('reindex', '--rate', '1000000');
  expect(second).toMatchObject({ code: 0, out: expect.stringContaining('reindexed: 1,800 plants') });
  expect(await indexedIds()).toEqual(await storedIds());
  // What the first one had copied was not copied again.
  expect((await search.findOne({}, { sort: { _id: 1 } }))?.indexed).toEqual(firstEntry?.indexed);
}, 60_000);

test.each(['swapping', 'swapped'] as const)('killed when it was %s, it ends what is left', async (phase) => {
  await create(0, 'Rose', 'Lily');
  const [late] = (await create(0, 'Oak')) as [PlantDocument];
  await search.deleteOne({ _id: late._id });
  await database.collection<{ _id: string }>('ops_state').insertOne({
    _id: 'reindex',
    holder: null,
    alive: new Date(0),
    phase,
    copied: 2,
    skipped: 0,
    heads: [{ chain: 0, height: 1 }],
  } as never);
  expect(await run()).toEqual({ plants: 2, skipped: 0 });
  expect(await indexedIds()).toEqual(await storedIds());
});

test('a bad rate gets one clear line', async () => {
  const refused = await ops('reindex', '--rate', 'fast');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toMatch(/^ops: [^\n]*whole number from 100 to 1000000[^\n]*\n$/);
});
