import { join } from 'node:path';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { createMongoClient } from '@plant-store/platform/mongo/mongo';
import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoSearchIndex } from '@plant-store/search/mongo/mongo-search-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import type { Question } from '@plant-store/search/question';
import { type SearchEntry, searchEntry } from '@plant-store/search/search-entry';
import { searchPlants } from '@plant-store/search/search-plants';
import type { CollectionInfo } from 'mongodb';
import { expect, test } from 'vitest';
import { reindex } from '../../services/ops/src/search/reindex.ts';
import { takeReindex } from '../../services/ops/src/search/reindex-state.ts';
import { ledgerUnderTest } from '../audit/ledger-under-test.ts';
import { mongoProxy } from '../harness/network/mongo-proxy.ts';
import { launch } from '../harness/processes/launch.ts';
import { waitFor } from '../harness/wait-for.ts';

const MAIN = join(import.meta.dirname, '../../services/ops/src/commands/main.ts');
const { url, database, create } = ledgerUnderTest();
const search = database.collection<SearchEntry>('plant_search');
const next = database.collection<SearchEntry>('plant_search_next');
const plants = database.collection<PlantDocument>('plants');
const indexes = { index: mongoTermIndex(database), audited: mongoAuditedIndex(database) };
const collections = async () => (await database.listCollections().toArray()).map(({ name }) => name);
const positive = (count: number) => count > 0;
const environment = { MONGODB_URL: url };

const indexedIds = async (collection = search) =>
  (await collection.find({}, { projection: { _id: 1 }, sort: { _id: 1 } }).toArray()).map(({ _id }) => _id);
const storedIds = async () =>
  (await plants.find({}, { projection: { _id: 1 }, sort: { _id: 1 } }).toArray()).map(({ _id }) => _id);

/** The plants of all pages. */
async function idsOf(question: Question): Promise<Set<bigint>> {
  const ids = new Set<bigint>();
  for (let after: string | undefined; ; ) {
    const page = await searchPlants(indexes, question, {
      plantsMax: 1_000,
      msMax: 30_000,
      ...(after && { after }),
    });
    for (const { id } of page.plants) ids.add(id);
    after = page.next;
    if (after === undefined) return ids;
  }
}

/** @param atSwap is called when the new index is in place, and nothing else has been done since. */
async function run(atSwap: () => Promise<void> = async () => {}, plantsPerSecond = 1_000_000) {
  await using store = await takeReindex(database, 'test', () => {});
  return await reindex({
    database,
    store: {
      ...store,
      finish: async () => {
        await atSwap();
        await store.finish();
      },
    },
    plantsPerSecond,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
}

const ops = async (...args: string[]) => {
  const { code, stdout: out, stderr: err } = await launch('node', [MAIN, ...args], { environment }).ended;
  return { code, out, err };
};

test('the index is built anew: what is missing, wrong or too much in the old one is mended', async () => {
  const created = await create(0, ...Array.from({ length: 450 }, (_, place) => `Rose ${place}`));
  await search.deleteOne({ _id: created[0]?._id as bigint });
  await search.updateOne({ _id: created[1]?._id as bigint }, { $set: { terms: ['w:wrong'] } });
  await search.insertOne({ ...((await search.findOne()) as SearchEntry), _id: -1n });
  // Five pages.
  expect(await run(undefined, 6_000)).toEqual({ plants: 450, skipped: 0 });
  expect(await indexedIds()).toEqual(await storedIds());
  expect((await searchPlants(indexes, { text: 'rose 1' }, { plantsMax: 1_000 })).plants).toHaveLength(111);
  expect(await database.collection('ops_state').countDocuments()).toBe(0);
});

test('a plant that was found once is found by every later search, also at the swap', {
  timeout: 60_000,
}, async () => {
  await create(0, ...Array.from({ length: 1_000 }, (_, place) => `Rose ${place}`));
  const { ended, running } = until();
  let written = 0;
  const writers = [1, 2].map(async (chain) => {
    while (running()) written += (await create(chain, 'Lily', 'Oak')).length;
  });
  let searches = 0;
  const searcher = (async () => {
    const found = new Set<bigint>();
    while (running()) {
      const ids = await idsOf({ text: 'lily' });
      expect(found.difference(ids)).toEqual(new Set());
      for (const id of ids) found.add(id);
      searches++;
    }
  })();
  try {
    for (let round = 0; round < 3; round++) await run();
  } finally {
    ended();
    await Promise.all([...writers, searcher]);
  }
  expect({ written, searches }).toEqual({
    written: expect.toSatisfy(positive),
    searches: expect.toSatisfy(positive),
  });
  expect(await indexedIds()).toEqual(await storedIds());
});

test('a swap between a duplicate in the new index and its majority read fails no worker', async () => {
  await database
    .collection<{ _id: string }>('ops_state')
    .insertOne({ _id: 'reindex', phase: 'swapping' } as never);
  const [plant] = (await create(0, 'Rose')) as [PlantDocument];
  const entry = searchEntry(plant, new Date());
  await using proxy = await mongoProxy(url);
  const client = createMongoClient(proxy.url, 'test');
  try {
    const count = proxy.hold({ command: 'aggregate', collection: 'plant_search_next', at: 'request' });
    const added = mongoSearchIndex(client, database.databaseName).add([entry]);
    await count.reached;
    await next.rename('plant_search', { dropTarget: true });
    count.release();
    expect(await added).toEqual(new Map());
    expect(await indexedIds()).toEqual([plant._id]);
  } finally {
    await client.close();
  }
});

test('at the swap the new index holds what a worker had added to the old one, audited or not', async () => {
  const [audited, pending] = (await create(0, 'Rose', 'Lily')) as [PlantDocument, PlantDocument];
  await database.collection('audit_blocks').deleteMany({});
  await plants.updateOne({ _id: pending._id }, { $set: { pending: true } });
  let atSwap: bigint[] = [];
  await run(async () => {
    atSwap = await indexedIds();
  });
  expect(atSwap).toEqual([audited._id, pending._id]);
});

test.each([
  ['copying', 0],
  ['joining', 1],
  ['swapping', 1],
  ['swapped', 0],
] as const)('in the phase %s a worker adds %i entries to the new index', async (phase, added) => {
  await database.collection<{ _id: string }>('ops_state').insertOne({ _id: 'reindex', phase } as never);
  const [plant] = (await create(0, 'Rose')) as [PlantDocument];
  expect(await indexedIds()).toEqual([plant._id]);
  expect(await indexedIds(next)).toEqual([plant._id].slice(0, added));
});

test('after kill -9 it goes on where it was, and while it runs another one is refused', async () => {
  await create(0, ...Array.from({ length: 900 }, (_, place) => `Rose ${place}`));
  await create(0, ...Array.from({ length: 900 }, (_, place) => `Lily ${place}`));
  await using first = launch('node', [MAIN, 'reindex', '--rate', '100'], {
    environment,
  });
  const ended = first.ended.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)));
  // Its priority is low: on a busy machine this takes long.
  const someCopied = waitFor(async () => (await next.countDocuments()) >= 400, {
    withinMs: 90_000,
    what: 'some are copied',
  });
  await Promise.race([someCopied, ended]);
  const refused = await ops('reindex');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain(`a reindex is running already`);
  await first.stop('SIGKILL');

  const copied = await next.countDocuments();
  const state = await database
    .collection<{ _id: string; copied: number }>('ops_state')
    .findOne({ _id: 'reindex' });
  expect(state?.copied).toBeGreaterThanOrEqual(Math.min(400, copied - 50));
  const firstEntry = await next.findOne({}, { sort: { _id: 1 } });
  const second = await ops('reindex', '--rate', '1000000');
  expect(second).toMatchObject({ code: 0, out: expect.stringContaining('reindexed: 1,800 plants') });
  expect(await indexedIds()).toEqual(await storedIds());
  // What the first one had copied was not copied again.
  expect((await search.findOne({}, { sort: { _id: 1 } }))?.indexed).toEqual(firstEntry?.indexed);
});

test('killed before the swap, it swaps and ends', async () => {
  const [rose] = (await create(0, 'Rose')) as [PlantDocument];
  await next.insertOne((await search.findOne({ _id: rose._id })) as SearchEntry);
  await search.deleteMany({});
  await leaveState({ phase: 'swapping', next: await uuidOf('plant_search_next') });
  expect(await run()).toEqual({ plants: 2, skipped: 0 });
  expect(await indexedIds()).toEqual([rose._id]);
});

test('killed after the swap, it ends: a late write of a worker does not replace the new index', async () => {
  const [rose] = (await create(0, 'Rose')) as [PlantDocument];
  await leaveState({ phase: 'swapping', next: await uuidOf('plant_search') });
  await next.insertOne({ ...((await search.findOne({ _id: rose._id })) as SearchEntry), _id: -1n });
  let whileHeld: string[] = [];
  await run(async () => {
    whileHeld = await collections();
  });
  expect(await indexedIds()).toEqual([rose._id]);
  // Once the lease is given up, the collection may be that of another reindex.
  expect(whileHeld).not.toContain('plant_search_next');
});

test('when the new index was dropped before the swap, it says so, keeps the old one, and the next one begins anew', async () => {
  await create(0, 'Rose', 'Lily');
  await leaveState({ phase: 'swapping', next: 'another collection' });
  const before = await uuidOf('plant_search');
  await expect(run()).rejects.toThrow('start the reindex again');
  expect(await uuidOf('plant_search')).toBe(before);
  expect(await run()).toEqual({ plants: 2, skipped: 0 });
  expect(await uuidOf('plant_search')).not.toBe(before);
  expect(await indexedIds()).toEqual(await storedIds());
});

async function leaveState(fields: { phase: string; next: string | undefined }): Promise<void> {
  const state = {
    _id: 'reindex',
    holder: null,
    alive: new Date(0),
    copied: 2,
    skipped: 0,
    heads: [],
    ...fields,
  };
  await database.collection<{ _id: string }>('ops_state').insertOne(state as never);
}

async function uuidOf(name: string): Promise<string | undefined> {
  const [collection] = await database.listCollections<CollectionInfo>({ name }).toArray();
  return collection?.info?.uuid?.toString('hex');
}

function until(): { ended: () => void; running: () => boolean } {
  let isRunning = true;
  return {
    ended: () => {
      isRunning = false;
    },
    running: () => isRunning,
  };
}

test('a bad rate gets one clear line', async () => {
  const refused = await ops('reindex', '--rate', 'fast');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toMatch(/^ops: [^\n]*whole number from 100 to 1000000[^\n]*\n$/);
});
