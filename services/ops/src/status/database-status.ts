import type { AuditBlock } from '@plant-store/audit/ledger/audit-block';
import { AUDIT_BLOCKS, PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { type Db, ObjectId } from 'mongodb';

/** Beyond this, pending plants are not counted one by one: the figure is read every other second. */
export const PENDING_COUNTED_MAX = 10_000;
/** More chains than any worker is told to write. */
const CHAINS_MAX = 64;
const READ_MS_MAX = 1_000;

type ChainHead = { chain: number; height: number; entries: number; sealed: Date };

export type DatabaseStatus = {
  /** As the collection's metadata estimates; a count would read them all. */
  plants: number;
  /** Plants not yet processed, counted up to PENDING_COUNTED_MAX. */
  pending: number;
  /** Age of the oldest of them by this machine's clock, to within the second that orders commits; 0 without any. */
  oldestPendingMs: number;
  /** The newest audit block of every chain. */
  chains: ChainHead[];
};

/** Every commit id there is: a bound on `commit` lets the partial index on pending plants answer. */
const anyCommit = { $gte: new ObjectId('0'.repeat(24)) };

/** @throws when there is no primary, or it does not answer in time. */
export async function readDatabase(database: Db): Promise<DatabaseStatus> {
  const collection = database.collection<PlantDocument>(PLANTS);
  const isPending = { pending: true, commit: anyCommit } as const;
  const bounds = { maxTimeMS: READ_MS_MAX };

  const [plants, pending, oldest, chains] = await Promise.all([
    collection.estimatedDocumentCount(bounds),
    collection.countDocuments(isPending, { ...bounds, limit: PENDING_COUNTED_MAX }),
    collection.findOne(isPending, { ...bounds, sort: { commit: 1 }, projection: { created: 1 } }),
    readChains(database),
  ]);
  return {
    plants,
    pending,
    oldestPendingMs: oldest === null ? 0 : Math.max(0, Date.now() - oldest.created.getTime()),
    chains,
  };
}

/** Sorted as the unique index on (chain, height) is, so MongoDB reads one block a chain and skips the rest. */
async function readChains(database: Db): Promise<ChainHead[]> {
  const heads = await database
    .collection(AUDIT_BLOCKS)
    .aggregate<{ _id: AuditBlock['chain']; entries: number } & Pick<AuditBlock, 'height' | 'time'>>(
      [
        { $sort: { chain: -1, height: -1 } },
        {
          $group: {
            _id: '$chain',
            height: { $first: '$height' },
            entries: { $first: { $size: '$entries' } },
            time: { $first: '$time' },
          },
        },
        { $sort: { _id: 1 } },
        { $limit: CHAINS_MAX },
      ],
      { maxTimeMS: READ_MS_MAX },
    )
    .toArray();
  return heads.map(({ _id, height, entries, time }) => ({ chain: _id, height, entries, sealed: time }));
}
