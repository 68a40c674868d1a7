import { setTimeout as pause } from 'node:timers/promises';
import type { Db, IndexDescription } from 'mongodb';

const PAUSE_MS_MAX = 5_000;
/** Building an index on an existing collection takes as long as it takes. */
const BUILD_MS_MAX = 10 * 60 * 1_000;

type Specification = IndexDescription & { collection: string };

/**
 * Creates the indexes that are missing, and tries for as long as it takes, since the database may be down at start.
 * @param onFailure hears of every failed attempt
 * @returns when all exist, or once `stop` is aborted
 */
export async function ensureIndexes(
  database: Db,
  specifications: readonly Specification[],
  onFailure: (error: unknown) => void,
  stop: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !stop.aborted; attempt++) {
    try {
      for (const { collection, ...index } of specifications) {
        await database.collection(collection).createIndexes([index], { maxTimeMS: BUILD_MS_MAX });
      }
      return;
    } catch (error) {
      if (stop.aborted) return;
      onFailure(error);
      await pause(Math.min(attempt * 500, PAUSE_MS_MAX), undefined, { signal: stop, ref: false }).catch(
        () => {},
      );
    }
  }
}
