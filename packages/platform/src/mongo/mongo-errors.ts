import { MongoNotConnectedError, MongoServerSelectionError, MongoTopologyClosedError } from 'mongodb';

/** The driver's names for a pool check-out that failed; it does not export the classes. */
const CHECK_OUT_FAILED = ['MongoWaitQueueTimeoutError', 'MongoPoolClearedError', 'MongoPoolClosedError'];

/**
 * Whether the operation failed before its command was written to a socket: no server was found, no connection became
 * free, or none could be established. This holds only for clients whose retries are off (`createMongoClient`): with
 * retries, the same errors can follow a command that was sent.
 */
export function failedBeforeSending(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof MongoServerSelectionError || error instanceof MongoTopologyClosedError) return true;
  if (error instanceof MongoNotConnectedError || CHECK_OUT_FAILED.includes(error.name)) return true;
  const { syscall } = (error.cause ?? {}) as NodeJS.ErrnoException;
  // The plain network error: those that derive from it also befall connections with a command in flight.
  return error.name === 'MongoNetworkError' && syscall === 'connect';
}
