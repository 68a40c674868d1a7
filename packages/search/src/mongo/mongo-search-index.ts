import { PLANT_SEARCH } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import { partialInsert } from '@plant-store/platform/mongo/mongo-failures';
import type { MongoClient } from 'mongodb';
import type { SearchEntry } from '../search-entry.ts';

export type SearchIndex = {
  /**
   * Returns when a majority has an entry for each plant, on disk. Answers those that the database rejects by
   * themselves, with the reason; any other failure is thrown, and the whole may be repeated.
   */
  add: (entries: readonly SearchEntry[]) => Promise<ReadonlyMap<bigint, string>>;
};

/**
 * The search index in MongoDB.
 * - Entries wait for a journaled majority: with less, a failover takes an entry back whose plant's mark is cleared, and
 *   the plant is never found (E3).
 * - They are inserted, not upserted, which costs the database less: an entry that is there already says the same, since
 *   plants are read by majority and their content never changes (E2).
 */
export function mongoSearchIndex(client: MongoClient, database: string): SearchIndex {
  const search = client.db(database).collection<SearchEntry>(PLANT_SEARCH, {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: OPERATION_MS_MAX },
  });

  return {
    add: async (entries) => {
      if (entries.length === 0) return new Map();
      return client.withSession({ causalConsistency: true }, async (session) => {
        const bounded = { session, maxTimeMS: OPERATION_MS_MAX };
        const idAt = (index: number) => (entries[index] as SearchEntry)._id;
        try {
          await search.insertMany([...entries], { ...bounded, ordered: false });
          return new Map();
        } catch (error) {
          const { duplicates, rejected } = partialInsert(error);
          await confirm(duplicates.map(idAt));
          return new Map(rejected.map(({ index, reason }) => [idAt(index), reason]));
        }

        /**
         * An entry that was there already may be another worker's, not yet by majority, and a failover could take it
         * back after the clear (E3). The causal session makes this majority read wait for it. (mongod 6.0 holds the
         * duplicate's error back until then, too, which nothing promises.)
         */
        async function confirm(ids: readonly bigint[]): Promise<void> {
          if (ids.length === 0) return;
          const found = await search.countDocuments({ _id: { $in: [...ids] } }, bounded);
          if (found !== ids.length) throw new Error(`${ids.length - found} index entries were rolled back`);
        }
      });
    },
  };
}
