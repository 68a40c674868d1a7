import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Db, type IndexDescription, MongoServerError } from 'mongodb';

const PAUSE_MS_MAX = 5_000;
/** Building an index on a large existing collection may take minutes. */
const BUILD_MS_MAX = 10 * 60 * 1_000;
const NAMESPACE_NOT_FOUND = 26;
const UNAUTHORIZED = 13;

type Specification = IndexDescription & { collection: string };

/**
 * Creates the indexes that are missing. It retries until it succeeds, since the database may be down at the start. If
 * the account may not create indexes, it waits until they exist.
 * @param onFailure is called for every failed attempt
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
      for (const specification of specifications) await ensureIndex(database, specification);
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

/** If another index has the same name, MongoDB refuses the new one. */
async function ensureIndex(database: Db, { collection, ...index }: Specification): Promise<void> {
  const existing = await indexesOf(database, collection);
  if (existing.some((found) => isSame(found, index))) return;
  try {
    await database.collection(collection).createIndexes([index], { maxTimeMS: BUILD_MS_MAX });
  } catch (error) {
    if (!hasCode(error, UNAUTHORIZED)) throw error;
    const missing = `index ${index.name} of ${collection} is missing, and this account may not create it`;
    throw new Error(`${missing}: run the database's setup (deploy/mongodb/setup.ts)`, { cause: error });
  }
}

async function indexesOf(database: Db, collection: string): Promise<IndexDescription[]> {
  try {
    return await database.collection(collection).listIndexes().toArray();
  } catch (error) {
    if (hasCode(error, NAMESPACE_NOT_FOUND)) return [];
    throw error;
  }
}

function isSame(found: IndexDescription, wanted: IndexDescription): boolean {
  const essence = ({ name, key, unique, partialFilterExpression }: IndexDescription) => ({
    name,
    key: Object.entries(key),
    unique: unique ?? false,
    partialFilterExpression,
  });
  return isDeepStrictEqual(essence(found), essence(wanted));
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof MongoServerError && error.code === code;
}
