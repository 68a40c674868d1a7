import { PENDING_COMMITS } from '@plant-store/contracts/indexes';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import { type MongoClient, ObjectId } from 'mongodb';
import type { PendingCommits } from './pending-commits.ts';

/** Plants read for one page. The database groups them, so that only the commits are transferred. */
const PAGE_PLANTS_MAX = 10_000;
const BEFORE_ALL = '0'.repeat(24);

/**
 * The pending commits in MongoDB. They are read by majority, as the worker reads their plants: a job for a commit that
 * is rolled back would find nothing. A page may end within a commit; the next one begins with the following commit.
 *
 * This system writes only ObjectIds as commits. The range that is read excludes most other types; an array that holds
 * an ObjectId is inside the range, so the query also checks the type.
 */
export function mongoPendingCommits(client: MongoClient, database: string): PendingCommits {
  const plants = client
    .db(database)
    .collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });

  return {
    async page(after) {
      const groups = await plants
        .aggregate<{ _id: ObjectId; plants: number }>(
          [
            { $match: { pending: true, commit: { $gt: new ObjectId(after ?? BEFORE_ALL) } } },
            { $match: { $expr: { $eq: [{ $type: '$commit' }, 'objectId'] } } },
            { $sort: { commit: 1 } },
            { $limit: PAGE_PLANTS_MAX },
            { $group: { _id: '$commit', plants: { $sum: 1 } } },
            { $sort: { _id: 1 } },
          ],
          { hint: PENDING_COMMITS, maxTimeMS: OPERATION_MS_MAX },
        )
        .toArray();
      const commits = groups.map(({ _id, plants }) => ({ commit: _id.toHexString(), plants }));
      const seen = commits.reduce((sum, { plants }) => sum + plants, 0);
      return { commits, next: seen < PAGE_PLANTS_MAX ? undefined : commits.at(-1)?.commit };
    },
  };
}
