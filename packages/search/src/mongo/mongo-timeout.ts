import { MongoServerError } from 'mongodb';
import { SearchTimeout } from '../answer.ts';

const MAX_TIME_MS_EXPIRED = 50;

/** @throws SearchTimeout where the database ended the operation at its `maxTimeMS`. */
export async function inTime<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    if (error instanceof MongoServerError && error.code === MAX_TIME_MS_EXPIRED) throw new SearchTimeout();
    throw error;
  }
}
