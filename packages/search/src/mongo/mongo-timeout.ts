import { MongoServerError } from 'mongodb';
import { SearchTimeout } from '../answer.ts';

const MAX_TIME_MS_EXPIRED = 50;
const QUERY_PLAN_KILLED = 175;

/**
 * Runs a read with a time limit in ms, which it passes on as `maxTimeMS`. Without any time left nothing is read: mongod
 * takes 0 for no limit. The read is repeated once when its collection was replaced while it ran, as at the swap of a reindex.
 * @throws SearchTimeout when the time is over
 */
export async function inTime<T>(msMax: number, read: () => Promise<T>): Promise<T> {
  if (msMax <= 0) throw new SearchTimeout();
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
