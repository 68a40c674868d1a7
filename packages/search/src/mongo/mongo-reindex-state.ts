import { OPS_STATE } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import type { ClientSession, Db } from 'mongodb';

/** The `_id` of the document in `ops_state` that a reindex stores its progress in. */
export const REINDEX = 'reindex';

/**
 * The phases of a reindex, in their order. From `joining` to the swap, workers write to both indexes: before the swap,
 * the reindex adds what they had written to the present index alone.
 */
export type ReindexPhase = 'begun' | 'copying' | 'joining' | 'swapping' | 'swapped';

const NEAR_THE_SWAP: readonly ReindexPhase[] = ['joining', 'swapping'];

/** Whether a worker has to write to both indexes. It costs the database one look-up by id. */
export async function swapIsNear(database: Db, session: ClientSession): Promise<boolean> {
  const states = database.collection<{ _id: string; phase?: ReindexPhase }>(OPS_STATE, {
    readConcern: { level: 'majority' },
  });
  const near = await states.findOne(
    { _id: REINDEX, phase: { $in: [...NEAR_THE_SWAP] } },
    { session, projection: { _id: 1 }, maxTimeMS: OPERATION_MS_MAX },
  );
  return near !== null;
}
