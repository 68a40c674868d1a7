import { contentHash } from '@plant-store/audit/ledger/audit-entry';
import type { Ledger } from '@plant-store/audit/mongo/mongo-ledger';
import type { Fault } from '@plant-store/audit/verification/fault';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import type { Db, Filter } from 'mongodb';
import type { ContentComparison } from './content-records.ts';

const READ_AT_ONCE = 5_000;
const LOOKED_UP_AT_ONCE = 500;
const OPERATION_MS_MAX = 30_000;

/** A document of another shape was not written by the API, and was never audited as a plant. */
type StoredPlant = Pick<PlantDocument, '_id' | 'name' | 'tag'>;

/** Adds the content of every stored plant, or of those created since a time, to the right side. */
export async function addPlants(
  database: Db,
  comparison: ContentComparison,
  since: Date | undefined,
  onPlants: (count: number) => void,
): Promise<number> {
  const filter: Filter<PlantDocument> = since === undefined ? {} : { created: { $gte: since } };
  const plants = database
    .collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } })
    .find(filter, {
      projection: { name: 1, tag: 1 },
      batchSize: READ_AT_ONCE,
      enableUtf8Validation: false,
    });
  let count = 0;
  for await (const plant of plants) {
    const content = contentOf(plant);
    if (content !== undefined) comparison.addRight({ plant: plant._id, content });
    count++;
    if (count % READ_AT_ONCE === 0) onPlants(READ_AT_ONCE);
  }
  onPlants(count % READ_AT_ONCE);
  return count;
}

/**
 * The differences between the two streams that are faults. While workers write there are always differences, so each
 * one is read again by majority, and is a fault only when it is still there.
 */
export async function* differingPlants(
  database: Db,
  ledger: Pick<Ledger, 'audited'>,
  comparison: ContentComparison,
): AsyncIterable<Fault> {
  let plants: bigint[] = [];
  for (const { record } of comparison.differences()) {
    plants.push(record.plant);
    if (plants.length < LOOKED_UP_AT_ONCE) continue;
    yield* await judge(database, ledger, plants);
    plants = [];
  }
  yield* await judge(database, ledger, plants);
}

async function judge(
  database: Db,
  ledger: Pick<Ledger, 'audited'>,
  ids: readonly bigint[],
): Promise<Fault[]> {
  if (ids.length === 0) return [];
  const faults: Fault[] = [];
  const wanted = [...new Set(ids)];
  // Plants are read first: one that is not pending has been audited, so the log read afterwards contains it.
  const plants = await readPlants(database, wanted);
  const entries = Map.groupBy(await ledger.audited(wanted), ({ plant }) => plant);
  // A plant in the log was stored before, so a plant that was missing in the earlier read is found now.
  const later = await readPlants(
    database,
    [...entries.keys()].filter((plant) => !plants.has(plant)),
  );
  for (const [id, plant] of later) plants.set(id, plant);

  for (const plant of wanted) {
    const [entry, second] = entries.get(plant) ?? [];
    const document = plants.get(plant);
    const where = entry && { chain: entry.chain, height: entry.height };
    if (entry !== undefined && second !== undefined) {
      const detail = `it is also in chain ${second.chain} at height ${second.height}`;
      faults.push({ kind: 'plant audited twice', ...where, plant, detail });
    } else if (entry !== undefined && document === undefined) {
      faults.push({ kind: 'plant missing', ...where, plant, detail: 'it is audited and no longer stored' });
    } else if (entry !== undefined && contentOf(document as StoredPlant) !== entry.content) {
      faults.push({ kind: 'plant changed', ...where, plant, detail: 'it is not stored as it was audited' });
    } else if (entry === undefined && document !== undefined && document.pending === undefined) {
      faults.push({ kind: 'plant not audited', plant, detail: 'it is stored, not pending and in no block' });
    }
  }
  return faults;
}

async function readPlants(database: Db, ids: readonly bigint[]): Promise<Map<bigint, PlantDocument>> {
  const plants = await database
    .collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } })
    .find(
      { _id: { $in: [...ids] } },
      {
        projection: { name: 1, tag: 1, pending: 1 },
        maxTimeMS: OPERATION_MS_MAX,
        enableUtf8Validation: false,
      },
    )
    .toArray();
  return new Map(plants.map((plant) => [plant._id, plant]));
}

function contentOf({ _id, name, tag }: StoredPlant): string | undefined {
  const isPlant =
    typeof _id === 'bigint' && typeof name === 'string' && ['string', 'undefined'].includes(typeof tag);
  return isPlant ? contentHash({ id: _id, name, tag }) : undefined;
}
