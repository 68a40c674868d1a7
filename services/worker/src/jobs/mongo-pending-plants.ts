import { PENDING_COMMITS } from '@plant-store/contracts/indexes';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import { type MongoClient, ObjectId } from 'mongodb';
import type { PendingPlants } from './pending-plants.ts';

/**
 * The pending plants in MongoDB.
 * - They are read by majority: a local read shows plants that may be rolled back after they are audited (E2).
 * - Pending flags are cleared by commit and id, not by commit alone: a majority read does not see those plants of a
 *   commit that only a minority has, or that arrive later, and their flags would be cleared unprocessed (E3).
 * - The clear uses w:1. If it is rolled back, the plants stay pending and are processed again, which changes nothing.
 * - Read and clear name the index as a hint. Without it the planner clears by the index on ids, at two to three times
 *   the database's CPU; and with it a missing index fails the batch before it writes anything.
 */
export function mongoPendingPlants(client: MongoClient, database: string): PendingPlants {
  const plants = client.db(database).collection<PlantDocument>(PLANTS, {
    readConcern: { level: 'majority' },
    writeConcern: { w: 1 },
  });
  const bounded = { hint: PENDING_COMMITS, maxTimeMS: OPERATION_MS_MAX };

  return {
    async *pages(commits, plantsMax) {
      const cursor = plants.find(
        { commit: { $in: commits.map((commit) => new ObjectId(commit)) }, pending: true },
        // Invalid UTF-8 is read as replacement characters: one such plant must not fail the read of the others.
        { ...bounded, batchSize: plantsMax, enableUtf8Validation: false },
      );
      try {
        // One cursor for all pages: a second majority read might still see the flags that were just cleared.
        while (await cursor.hasNext()) yield cursor.readBufferedDocuments();
      } finally {
        await cursor.close();
      }
    },

    async clear(cleared) {
      if (cleared.length === 0) return;
      const commits = new Map(cleared.map(({ commit }) => [commit.toHexString(), commit]));
      await plants.updateMany(
        {
          commit: { $in: [...commits.values()] },
          pending: true,
          _id: { $in: cleared.map(({ _id }) => _id) },
        },
        { $unset: { pending: '' } },
        bounded,
      );
    },
  };
}
