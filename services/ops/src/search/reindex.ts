import { setTimeout as pause } from 'node:timers/promises';
import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import { PENDING_COMMITS, searchIndexes } from '@plant-store/contracts/indexes';
import {
  PLANT_SEARCH,
  PLANT_SEARCH_NEXT,
  PLANTS,
  type PlantDocument,
} from '@plant-store/contracts/plant-document';
import { partialInsert } from '@plant-store/platform/mongo/mongo-failures';
import { type SearchEntry, searchEntry } from '@plant-store/search/search-entry';
import type { Collection, CollectionInfo, Db } from 'mongodb';
import type { ReindexState, ReindexStore } from './reindex-state.ts';

/** Small pages, so that a create hardly waits for one of these writes; larger ones when a larger rate asks for speed. */
const PAGES_PER_SECOND = 60;
const PAGE_PLANTS = { min: 50, max: 1_000 };
/** Blocks replayed before workers write to both indexes, so that little is left for that time. */
const BLOCKS_LEFT_MAX = 20;
/** Ids of pending plants read at once. */
const PENDING_AT_ONCE = 10_000;
const MAJORITY = { w: 'majority', journal: true, wtimeoutMS: 30_000 } as const;

export type ReindexDeps = {
  database: Db;
  store: ReindexStore;
  /** Plants copied a second, at most; never more than half of the time is spent copying. */
  plantsPerSecond: number;
  signal: AbortSignal;
  onProgress: (phase: string, done: number, total: number) => void;
};

/**
 * Builds a new search index while the store runs, and swaps it with the present one in a single step.
 *
 * At the swap the new index holds all that the present one holds:
 * - Plants are copied in the order of their ids, and those that are audited after the start are replayed from their
 *   blocks.
 * - From the phase `joining` on, workers add each entry to the new index before they add it to the present one. A worker
 *   that began a page of plants earlier does not. These plants were pending when the phase was stored, so each of them
 *   either still is when the pending plants are read afterwards, or its block is replayed after that read.
 *
 * Every step may be repeated: after a crash, the next reindex continues from the last step that was stored.
 */
export async function reindex(deps: ReindexDeps): Promise<{ plants: number; skipped: number }> {
  const { database, store } = deps;
  const next = database.collection<SearchEntry>(PLANT_SEARCH_NEXT, { readConcern: { level: 'majority' } });
  const state = await store.read();
  if (state.phase === 'begun' || state.next === undefined) {
    await next.drop();
    await createIndexes(next);
    state.next = await collectionUuid(database, PLANT_SEARCH_NEXT);
    state.heads = await readHeads(database);
    state.phase = 'copying';
    await store.write(state, MAJORITY);
  }
  if (state.phase === 'copying') {
    await copyPlants(deps, next, state);
    await catchUp(deps, next, state);
    state.phase = 'joining';
    await store.write(state, MAJORITY);
  }
  if (state.phase === 'joining') {
    await addPending(deps, next);
    await replayBlocks(deps, next, state);
    state.phase = 'swapping';
    await store.write(state, MAJORITY);
  }
  // After a crash, a worker may have made the collection anew by a late write. It is renamed only if it is the built one.
  if (state.next === (await collectionUuid(database, PLANT_SEARCH_NEXT))) {
    await next.rename(PLANT_SEARCH, { dropTarget: true });
  }
  if (state.next !== (await collectionUuid(database, PLANT_SEARCH))) {
    await store.finish();
    throw new Error('the new index was dropped before the swap: start the reindex again, it begins anew');
  }
  // From now on workers write to one index, so none of them makes the collection anew after it is dropped. The lease is
  // still held: the drop cannot meet the collection of the next reindex.
  state.phase = 'swapped';
  await store.write(state, MAJORITY);
  await next.drop();
  await store.finish();
  return { plants: state.copied, skipped: state.skipped };
}

/** Undefined when there is no such collection. */
async function collectionUuid(database: Db, name: string): Promise<string | undefined> {
  const [collection] = await database.listCollections<CollectionInfo>({ name }).toArray();
  return collection?.info?.uuid?.toString('hex');
}

async function createIndexes(next: Collection<SearchEntry>): Promise<void> {
  for (const { collection: _collection, ...index } of searchIndexes) await next.createIndexes([index]);
}

/** Copies plants in the order of ids, from where an earlier reindex stopped. */
async function copyPlants(
  deps: ReindexDeps,
  next: Collection<SearchEntry>,
  state: ReindexState,
): Promise<void> {
  const { database, store, onProgress } = deps;
  const limit = pagePlants(deps);
  const plants = database.collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });
  const total = await plants.estimatedDocumentCount();
  for (;;) {
    const started = performance.now();
    const page = await plants
      .find(state.position === undefined ? {} : { _id: { $gt: state.position } }, {
        sort: { _id: 1 },
        limit,
        batchSize: limit,
        enableUtf8Validation: false,
      })
      .toArray();
    if (page.length === 0) return;
    // Pending plants too: one that is processed once more (reconcile --fix) may have its block from before the start.
    const wanted = page.filter(({ pending }) => pending !== 'quarantined');
    const added = await addEntries(next, wanted);
    state.skipped += wanted.length - added;
    state.copied += added;
    state.position = page.at(-1)?._id;
    await store.write(state);
    onProgress('copying', Math.min(state.copied, total), total);
    await rest(deps, page.length, started);
  }
}

/** Replays blocks until few are left, or until workers seal more of them in the same time. */
async function catchUp(deps: ReindexDeps, next: Collection<SearchEntry>, state: ReindexState): Promise<void> {
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    const replayed = await replayBlocks(deps, next, state);
    if (replayed <= BLOCKS_LEFT_MAX || replayed >= before) return;
    before = replayed;
  }
}

/** Replays the blocks that are sealed by now. @returns how many */
async function replayBlocks(
  deps: ReindexDeps,
  next: Collection<SearchEntry>,
  state: ReindexState,
): Promise<number> {
  const { database, store, onProgress } = deps;
  const ledger = mongoLedger(database);
  const plantsMin = pagePlants(deps);
  const heads = await readHeads(database);
  const total = await ledger.count(state.heads);
  let replayed = 0;
  for (const [chain, upTo] of heads) {
    // Small blocks are replayed together.
    let page: bigint[] = [];
    for await (const { height, plants } of ledger.creations(chain, state.heads.get(chain) ?? 0, upTo)) {
      page.push(...plants);
      replayed++;
      if (page.length < plantsMin && height < upTo) continue;
      await addMissing(deps, next, page);
      page = [];
      state.heads.set(chain, height);
      await store.write(state);
      onProgress('replaying', replayed, Math.max(total, replayed));
    }
  }
  return replayed;
}

/** Adds the plants that are pending. */
async function addPending(deps: ReindexDeps, next: Collection<SearchEntry>): Promise<void> {
  const plants = deps.database.collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });
  const pending = plants.find(
    { pending: true },
    // The planner does not choose a partial index for a query without a condition on its key.
    { hint: PENDING_COMMITS, projection: { _id: 1 }, batchSize: PENDING_AT_ONCE },
  );
  let added = 0;
  while (await pending.hasNext()) {
    const page = pending.readBufferedDocuments().map(({ _id }) => _id);
    await addMissing(deps, next, page);
    added += page.length;
    deps.onProgress('pending', added, added);
  }
}

/** Adds those of the plants that the index lacks: an insert of entries that exist costs the database much more. */
async function addMissing(
  deps: ReindexDeps,
  next: Collection<SearchEntry>,
  ids: readonly bigint[],
): Promise<void> {
  const plants = deps.database.collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });
  const plantsMax = pagePlants(deps);
  for (let start = 0; start < ids.length; start += plantsMax) {
    const started = performance.now();
    const some = ids.slice(start, start + plantsMax);
    const present = await next.find({ _id: { $in: some } }, { projection: { _id: 1 } }).toArray();
    const missing = new Set(some).difference(new Set(present.map(({ _id }) => _id)));
    if (missing.size > 0) {
      const filter = { _id: { $in: [...missing] } };
      await addEntries(next, await plants.find(filter, { enableUtf8Validation: false }).toArray());
    }
    await rest(deps, missing.size, started);
  }
}

function pagePlants({ plantsPerSecond }: ReindexDeps): number {
  const { min, max } = PAGE_PLANTS;
  return Math.min(max, Math.max(min, Math.ceil(plantsPerSecond / PAGES_PER_SECOND)));
}

/** Pauses after a page: as long as its plants take at the rate, and never shorter than the page took. */
async function rest(
  { plantsPerSecond, signal }: ReindexDeps,
  plants: number,
  started: number,
): Promise<void> {
  const tookMs = performance.now() - started;
  await pause(Math.max((plants / plantsPerSecond) * 1_000 - tookMs, tookMs), undefined, { signal });
}

/**
 * Existing entries are kept: they are equal. The entries wait for a majority: with less, a failover between two pages
 * would lose the first one, and nothing would say so.
 * @returns how many plants have an entry now
 */
async function addEntries(next: Collection<SearchEntry>, plants: readonly PlantDocument[]): Promise<number> {
  const now = new Date();
  const entries = plants.map((plant) => entryOf(plant, now)).filter(isDefined);
  if (entries.length === 0) return 0;
  try {
    await next.insertMany(entries, { ordered: false, writeConcern: MAJORITY });
    return entries.length;
  } catch (error) {
    return entries.length - partialInsert(error).rejected.length;
  }
}

/** Undefined for a document that workers cannot index either. */
function entryOf(plant: PlantDocument, now: Date): SearchEntry | undefined {
  try {
    return searchEntry(plant, now);
  } catch {
    return undefined;
  }
}

async function readHeads(database: Db): Promise<Map<number, number>> {
  const heads = await mongoLedger(database).heads();
  return new Map(heads.map(({ chain, height }) => [chain, height]));
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
