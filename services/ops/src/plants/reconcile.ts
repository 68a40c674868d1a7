import { isDeepStrictEqual } from 'node:util';
import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import type { Fault } from '@plant-store/audit/verification/fault';
import { PLANT_SEARCH, PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { type SearchEntry, searchEntry } from '@plant-store/search/search-entry';
import type { Collection, Db, Filter } from 'mongodb';
import { addPlants, differingPlants } from '../audit/compare-plants.ts';
import { ContentComparison } from '../audit/content-records.ts';

const PLANTS_AT_ONCE = 2_000;
const NOW = new Date(0);

export type Difference =
  | { kind: 'not indexed' | 'not audited'; plant: bigint; commit: string }
  | { kind: 'index differs' | 'indexed, not stored'; plant: bigint }
  /** Differences that only `audit verify` can explain. */
  | {
      kind: 'audited, not stored' | 'audited otherwise' | 'audited twice';
      plant: bigint;
      chain?: number;
      height?: number;
    };

export type ReconcileRequest = {
  /** Compares plants created since then. */
  since?: Date;
  /** Awaited, so that differences need not be kept. */
  onDifference: (difference: Difference) => Promise<void> | void;
  onProgress: (phase: string, done: number, total: number) => void;
};

/**
 * Compares plants, search index and audit log, by ranges of ids and with bounded memory. Each difference is read again
 * by majority before it is reported: while workers run, some plants are always still being processed.
 */
export async function reconcile(database: Db, request: ReconcileRequest): Promise<{ plants: number }> {
  const plants = await compareIndex(database, request);
  await compareAudit(database, request);
  return { plants };
}

async function compareIndex(
  database: Db,
  { since, onDifference, onProgress }: ReconcileRequest,
): Promise<number> {
  const options = { readConcern: { level: 'majority' } } as const;
  const plants = database.collection<PlantDocument>(PLANTS, options);
  const search = database.collection<SearchEntry>(PLANT_SEARCH, options);
  const total = await plants.estimatedDocumentCount();
  const created = since === undefined ? {} : { created: { $gte: since } };
  let after: bigint | undefined;
  let done = 0;
  for (;;) {
    const page = await plants
      .find(
        { ...created, ...(after !== undefined && { _id: { $gt: after } }) },
        {
          sort: { _id: 1 },
          limit: PLANTS_AT_ONCE,
          batchSize: PLANTS_AT_ONCE,
          enableUtf8Validation: false,
        },
      )
      .toArray();
    const last = page.length < PLANTS_AT_ONCE ? undefined : page.at(-1)?._id;
    // The range between the pages is included, so that an entry without a plant is found.
    const range = {
      ...created,
      ...((after !== undefined || last !== undefined) && {
        _id: { ...(after !== undefined && { $gt: after }), ...(last !== undefined && { $lte: last }) },
      }),
    } as Filter<SearchEntry>;
    const entries = new Map(
      (await search.find(range, { sort: { _id: 1 } }).toArray()).map((entry) => [entry._id, entry]),
    );
    const suspects: bigint[] = [];
    for (const plant of page) {
      if (indexDifference(plant, entries.get(plant._id)) !== undefined) suspects.push(plant._id);
      entries.delete(plant._id);
    }
    await judgeIndex(plants, search, [...suspects, ...entries.keys()], onDifference);
    done += page.length;
    onProgress('index', Math.min(done, total), total);
    if (last === undefined) return done;
    after = last;
  }
}

/** The present state of both. Plants are read first, since one that is no longer pending already has its entry. */
async function judgeIndex(
  plants: Collection<PlantDocument>,
  search: Collection<SearchEntry>,
  ids: readonly bigint[],
  onDifference: ReconcileRequest['onDifference'],
): Promise<void> {
  if (ids.length === 0) return;
  const filter = { _id: { $in: [...ids] } };
  const stored = await plants.find(filter, { enableUtf8Validation: false }).toArray();
  const entries = new Map((await search.find(filter).toArray()).map((entry) => [entry._id, entry]));
  const known = new Set(stored.map(({ _id }) => _id));
  for (const plant of stored) {
    const kind = indexDifference(plant, entries.get(plant._id));
    if (kind === 'not indexed') await onDifference({ kind, plant: plant._id, commit: String(plant.commit) });
    else if (kind !== undefined) await onDifference({ kind, plant: plant._id });
  }
  const orphans = [...entries.keys()].filter((id) => !known.has(id));
  if (orphans.length === 0) return;
  // A plant that was created after the plants were read is found now.
  const later = await plants.find({ _id: { $in: orphans } }, { projection: { _id: 1 } }).toArray();
  for (const { _id } of later) known.add(_id);
  for (const plant of orphans) {
    if (!known.has(plant)) await onDifference({ kind: 'indexed, not stored', plant });
  }
}

/** Pending plants are left out: they are still to be processed, or are poison and wait for an operator. */
function indexDifference(
  plant: PlantDocument,
  entry: SearchEntry | undefined,
): 'not indexed' | 'index differs' | undefined {
  if (plant.pending !== undefined) return undefined;
  if (entry === undefined) return 'not indexed';
  const { indexed: _indexed, ...own } = entry;
  const { indexed: _now, ...expected } = searchEntry(plant, NOW);
  return isDeepStrictEqual(own, expected) ? undefined : 'index differs';
}

async function compareAudit(
  database: Db,
  { since, onDifference, onProgress }: ReconcileRequest,
): Promise<void> {
  const ledger = mongoLedger(database);
  using comparison = new ContentComparison();
  // An earlier anchor shows where the newer blocks begin; without one the whole log is read.
  const anchor = since && (await ledger.anchorBefore(since));
  const total = await ledger.count(new Map(anchor?.heads.map(({ chain, height }) => [chain, height])));
  let done = 0;
  for (const chain of await ledger.chains()) {
    const from = anchor?.heads.find((head) => head.chain === chain)?.height ?? 0;
    for await (const { entries } of ledger.blocks(chain, from)) {
      for (const { plant, content } of entries as { plant?: bigint; content?: Buffer }[]) {
        if (plant !== undefined && content?.length === 32) {
          comparison.addLeft({ plant, content: content.toString('hex') });
        }
      }
      onProgress('audit', ++done, total);
    }
  }
  const stored = await database.collection(PLANTS).estimatedDocumentCount();
  let read = 0;
  await addPlants(database, comparison, since, (count) => {
    read += count;
    onProgress('plants', read, Math.max(stored, read));
  });
  for await (const fault of differingPlants(database, ledger, comparison)) {
    await onDifference(await differenceOf(database, fault));
  }
}

async function differenceOf(database: Db, { kind, plant: id, chain, height }: Fault): Promise<Difference> {
  const plant = id as bigint;
  const where = { ...(chain !== undefined && { chain }), ...(height !== undefined && { height }) };
  if (kind === 'plant not audited') {
    const stored = await database.collection<PlantDocument>(PLANTS).findOne({ _id: plant });
    return { kind: 'not audited', plant, commit: String(stored?.commit) };
  }
  const kinds = { 'plant missing': 'audited, not stored', 'plant audited twice': 'audited twice' } as const;
  return { kind: kinds[kind as keyof typeof kinds] ?? 'audited otherwise', plant, ...where };
}
