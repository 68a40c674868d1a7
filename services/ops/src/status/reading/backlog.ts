import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { type Db, ObjectId } from 'mongodb';

/** Pending plants are counted up to this many, since they are counted every 2 s. */
const COUNTED_MAX = 10_000;

export type Backlog = {
  /** Plants not yet indexed and audited, without those of `poison`. */
  plants: number;
  /** The count stopped at the limit: there are at least this many. */
  isCapped: boolean;
  /** Age of the oldest of them by this machine's clock, to within the second that orders commits; 0 without any. */
  oldestMs: number;
  /** Pending plants of commits whose job failed. */
  poison: number;
};

/** Every commit id there is: a bound on `commit` lets the partial index on pending plants answer. */
const anyCommit = { $gte: new ObjectId('0'.repeat(24)) };

/** @param poisonCommits commits whose job failed: their pending plants do not show how far behind the workers are */
export async function readBacklog(
  database: Db,
  poisonCommits: readonly string[],
  maxTimeMS: number,
): Promise<Backlog> {
  const collection = database.collection<PlantDocument>(PLANTS);
  const failed = poisonCommits.map((commit) => new ObjectId(commit));
  const others = {
    pending: true,
    commit: { ...anyCommit, ...(failed.length > 0 && { $nin: failed }) },
  } as const;

  const [plants, oldest, poison] = await Promise.all([
    collection.countDocuments(others, { maxTimeMS, limit: COUNTED_MAX }),
    collection.findOne(others, { maxTimeMS, sort: { commit: 1 }, projection: { created: 1 } }),
    failed.length === 0
      ? 0
      : collection.countDocuments(
          { pending: true, commit: { $in: failed } },
          { maxTimeMS, limit: COUNTED_MAX },
        ),
  ]);
  const created: unknown = oldest?.created;
  return {
    plants,
    isCapped: plants >= COUNTED_MAX,
    oldestMs: created instanceof Date ? Math.max(0, Date.now() - created.getTime()) : 0,
    poison,
  };
}
