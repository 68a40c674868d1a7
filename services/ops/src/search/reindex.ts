import { setTimeout as pause } from 'node:timers/promises';
import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import { searchIndexes } from '@plant-store/contracts/indexes';
import { PLANT_SEARCH, PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { partialInsert } from '@plant-store/platform/mongo/mongo-failures';
import { type SearchEntry, searchEntry } from '@plant-store/search/search-entry';
import type { ClientSession, Collection, Db, MongoClient } from 'mongodb';
import type { ReindexState, ReindexStore } from './reindex-state.ts';

/** The index being built; at the swap it is renamed to `plant_search`. */
const NEXT_SEARCH = 'plant_search_next';
/** Small, so that a create waits no longer for one of these writes than for another commit. */
const PLANTS_AT_ONCE = 200;
/** Blocks replayed before the swap, so that little is left for after it. */
const BLOCKS_LEFT_MAX = 20;
const MAJORITY = { w: 'majority', journal: true, wtimeoutMS: 30_000 } as const;

export type ReindexDeps = {
  client: MongoClient;
  database: Db;
  store: ReindexStore;
  /** Plants copied a second, at most; never more than half of the time is spent copying. */
  plantsPerSecond: number;
  signal: AbortSignal;
  onProgress: (phase: string, done: number, total: number) => void;
};

/**
 * Builds a new search index while the store runs, and swaps it with the old one in a single step.
 *
 * Plants that are audited after the start are replayed from their blocks, before the swap and after it. At the swap, a
 * worker may have indexed plants in the old index alone and not audited them yet. Each of them is either still pending
 * when the pending plants are read after the swap, or its block was sealed before that read and is replayed. So none is
 * missed.
 *
 * Every step may be repeated: after a crash, the next reindex continues from the last step that was stored.
 */
export async function reindex(deps: ReindexDeps): Promise<{ plants: number; skipped: number }> {
  const { client, database, store, signal } = deps;
  return client.withSession({ causalConsistency: true }, async (session) => {
    const next = database.collection<SearchEntry>(NEXT_SEARCH);
    const state = await store.read();
    if (state.phase === 'begun') {
      await next.drop();
      await createIndexes(next);
      state.heads = await readHeads(database);
      state.phase = 'copying';
      await store.write(state);
    }
    if (state.phase === 'copying') {
      await copyPlants(deps, next, state);
      while ((await replayBlocks(deps, next, state)) > BLOCKS_LEFT_MAX) signal.throwIfAborted();
      state.phase = 'swapping';
      // Written with majority, which also confirms all earlier writes of the copy.
      await store.write(state, MAJORITY);
    }
    if (state.phase === 'swapping') {
      const isBuilt = (await database.listCollections({ name: NEXT_SEARCH }).toArray()).length > 0;
      if (isBuilt) await next.rename(PLANT_SEARCH, { dropTarget: true, session });
      state.phase = 'swapped';
      await store.write(state, MAJORITY);
    }
    const search = database.collection<SearchEntry>(PLANT_SEARCH);
    await indexPending(database, search, session);
    await replayBlocks(deps, search, state);
    await store.finish();
    return { plants: state.copied, skipped: state.skipped };
  });
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
  const { database, store, plantsPerSecond, signal, onProgress } = deps;
  const plants = database.collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });
  const total = await plants.estimatedDocumentCount();
  for (;;) {
    const started = performance.now();
    const page = await plants
      .find(state.position === undefined ? {} : { _id: { $gt: state.position } }, {
        sort: { _id: 1 },
        limit: PLANTS_AT_ONCE,
        batchSize: PLANTS_AT_ONCE,
        enableUtf8Validation: false,
      })
      .toArray();
    if (page.length === 0) return;
    // A pending plant is left out: a worker indexes it, and it is replayed from its block.
    const processed = page.filter(({ pending }) => pending === undefined);
    const added = await addEntries(next, processed);
    state.skipped += processed.length - added;
    state.copied += added;
    state.position = page.at(-1)?._id;
    await store.write(state);
    onProgress('copying', Math.min(state.copied, total), total);
    const tookMs = performance.now() - started;
    await pause(Math.max((page.length / plantsPerSecond) * 1_000 - tookMs, tookMs), undefined, { signal });
  }
}

/** @returns how many blocks were replayed */
async function replayBlocks(
  { database, store, signal, onProgress }: ReindexDeps,
  search: Collection<SearchEntry>,
  state: ReindexState,
): Promise<number> {
  const ledger = mongoLedger(database);
  const plants = database.collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });
  let replayed = 0;
  for (const chain of await ledger.chains()) {
    for await (const block of ledger.blocks(chain, state.heads.get(chain) ?? 0)) {
      signal.throwIfAborted();
      const ids = (block['entries'] as { plant?: bigint }[]).map(({ plant }) => plant).filter(isDefined);
      const documents = await plants.find({ _id: { $in: ids } }, { enableUtf8Validation: false }).toArray();
      await addEntries(search, documents, MAJORITY);
      state.heads.set(chain, block['height']);
      replayed++;
      onProgress('replaying', replayed, replayed);
    }
    await store.write(state);
  }
  return replayed;
}

/** Read after the swap, in its session: a plant indexed in the old index alone is still pending then, or audited. */
async function indexPending(
  database: Db,
  search: Collection<SearchEntry>,
  session: ClientSession,
): Promise<void> {
  const pending = database
    .collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } })
    .find({ pending: true }, { session, batchSize: PLANTS_AT_ONCE, enableUtf8Validation: false });
  let page: PlantDocument[] = [];
  for await (const plant of pending) {
    page.push(plant);
    if (page.length < PLANTS_AT_ONCE) continue;
    await addEntries(search, page, MAJORITY);
    page = [];
  }
  await addEntries(search, page, MAJORITY);
}

/** Existing entries are kept: they are equal. @returns how many plants have an entry now */
async function addEntries(
  search: Collection<SearchEntry>,
  plants: readonly PlantDocument[],
  writeConcern: { w: number | 'majority' } = { w: 1 },
): Promise<number> {
  const now = new Date();
  const entries = plants.map((plant) => entryOf(plant, now)).filter(isDefined);
  if (entries.length === 0) return 0;
  try {
    await search.insertMany(entries, { ordered: false, writeConcern });
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
