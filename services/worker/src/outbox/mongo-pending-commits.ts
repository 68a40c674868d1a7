import { PENDING_COMMITS } from '@plant-store/contracts/indexes';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import { type MongoClient, ObjectId } from 'mongodb';
import type { PendingCommits } from './pending-commits.ts';

/** Plants a page looks at; grouped in the database, so that only the commits travel. */
const PAGE_PLANTS_MAX = 10_000;
const BEFORE_ALL = '0'.repeat(24);

/**
 * The pending commits in MongoDB, read by majority as the worker reads their plants: a job for what is rolled back
 * would find nothing. A page may end within a commit; the next one begins with the following commit.
 *
 * A commit that is no ObjectId is none of ours. Most types of value are outside the range that is read; an array is
 * inside it when it holds an ObjectId, so the type is asked for as well.
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
