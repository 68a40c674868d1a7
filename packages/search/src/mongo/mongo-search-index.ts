import { PLANT_SEARCH, PLANT_SEARCH_NEXT } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import { partialInsert } from '@plant-store/platform/mongo/mongo-failures';
import type { ClientSession, Collection, MongoClient } from 'mongodb';
import type { SearchEntry } from '../search-entry.ts';
import { swapIsNear } from './mongo-reindex-state.ts';

export type SearchIndex = {
  /**
   * Resolves when a majority has an entry for each plant on disk, except for entries that the database rejects: these
   * are returned with the reason. Any other failure is thrown, and the call may be repeated.
   * @param entries of plants that were read before the call
   */
  add: (entries: readonly SearchEntry[]) => Promise<ReadonlyMap<bigint, string>>;
};

/**
 * The search index in MongoDB.
 * - Entries wait for a journaled majority: with less, a failover could roll back an entry after its plant's pending
 *   flag is cleared, and the plant would never be found (E3).
 * - They are inserted, not upserted, which costs the database less. An existing entry has the same content, since
 *   plants are read by majority and never change (E2).
 * - While a reindex is about to swap the indexes, entries are first added to the new index, then to the present one: a
 *   plant that is found before the swap is found after it.
 */
export function mongoSearchIndex(client: MongoClient, database: string): SearchIndex {
  const db = client.db(database);
  const options = {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: OPERATION_MS_MAX },
  } as const;
  const present = db.collection<SearchEntry>(PLANT_SEARCH, options);
  const next = db.collection<SearchEntry>(PLANT_SEARCH_NEXT, options);

  return {
    add: async (entries) => {
      if (entries.length === 0) return new Map();
      return client.withSession({ causalConsistency: true }, async (session) => {
        // Read after the plants were: a reindex adds those that were pending when it announced the swap by itself.
        if (await swapIsNear(db, session)) await addTo(next, entries, session);
        return addTo(present, entries, session);
      });
    },
  };
}

/**
 * @param inserts how often to insert: once more when existing entries were gone before a majority had them. A failover
 * rolled them back, or the swap renamed the new index meanwhile.
 */
async function addTo(
  search: Collection<SearchEntry>,
  entries: readonly SearchEntry[],
  session: ClientSession,
  inserts = 2,
): Promise<ReadonlyMap<bigint, string>> {
  const bounded = { session, maxTimeMS: OPERATION_MS_MAX };
  const idAt = (index: number) => (entries[index] as SearchEntry)._id;
  try {
    await search.insertMany([...entries], { ...bounded, ordered: false });
    return new Map();
  } catch (error) {
    const { duplicates, rejected } = partialInsert(error);
    const gone = await countGone(duplicates.map(idAt));
    if (gone > 0 && inserts > 1) return addTo(search, entries, session, inserts - 1);
    if (gone > 0) throw new Error(`${gone} index entries were rolled back`);
    return new Map(rejected.map(({ index, reason }) => [idAt(index), reason]));
  }

  /**
   * An existing entry may be another worker's that no majority has yet. A failover could roll it back after the pending
   * flag is cleared (E3). The causal session makes this majority read wait until a majority has it. (mongod 6.0 also
   * delays the duplicate key error until then, but does not guarantee that.)
   */
  async function countGone(ids: readonly bigint[]): Promise<number> {
    if (ids.length === 0) return 0;
    return ids.length - (await search.countDocuments({ _id: { $in: [...ids] } }, bounded));
  }
}
