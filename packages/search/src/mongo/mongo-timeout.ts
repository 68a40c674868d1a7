import { MongoServerError } from 'mongodb';
import { SearchTimeout } from '../answer.ts';

const MAX_TIME_MS_EXPIRED = 50;
const QUERY_PLAN_KILLED = 175;

/**
 * Runs a read. It is repeated once when its collection was replaced while it ran, as at the swap of a reindex.
 * @throws SearchTimeout where the database ended the operation at its `maxTimeMS`.
 */
export async function inTime<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read().catch((error) => {
      if (hasCode(error, QUERY_PLAN_KILLED)) return read();
      throw error;
    });
  } catch (error) {
    if (hasCode(error, MAX_TIME_MS_EXPIRED)) throw new SearchTimeout();
    throw error;
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof MongoServerError && error.code === code;
}
