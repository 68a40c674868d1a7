import { PENDING_COMMITS } from '@plant-store/contracts/indexes';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { type MongoClient, ObjectId } from 'mongodb';
import type { PendingMarks } from './pending-marks.ts';

/** Marks a page looks at; grouped in the database, so that only the commits travel. */
const PAGE_MARKS_MAX = 10_000;
const OPERATION_MS_MAX = 5_000;
/** Also leaves out whatever is no ObjectId, and so no commit of ours. */
const BEFORE_ALL = '0'.repeat(24);

/**
 * The marks in MongoDB, read by majority as the worker reads them: a ring for what is rolled back would find nothing.
 * A page may end within a commit; the next one begins with the following commit.
 */
export function mongoPendingMarks(client: MongoClient, database: string): PendingMarks {
  const plants = client
    .db(database)
    .collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });

  return {
    async page(after) {
      const groups = await plants
        .aggregate<{ _id: ObjectId; plants: number }>(
          [
            { $match: { pending: true, commit: { $gt: new ObjectId(after ?? BEFORE_ALL) } } },
            { $sort: { commit: 1 } },
            { $limit: PAGE_MARKS_MAX },
            { $group: { _id: '$commit', plants: { $sum: 1 } } },
            { $sort: { _id: 1 } },
          ],
          { hint: PENDING_COMMITS, maxTimeMS: OPERATION_MS_MAX },
        )
        .toArray();
      const commits = new Map(groups.map(({ _id, plants }) => [_id.toHexString(), plants]));
      const seen = groups.reduce((sum, group) => sum + group.plants, 0);
      return {
        commits,
        plants: seen,
        next: seen < PAGE_MARKS_MAX ? undefined : groups.at(-1)?._id.toHexString(),
      };
    },
  };
}
