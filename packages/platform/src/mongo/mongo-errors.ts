import { MongoNotConnectedError, MongoServerSelectionError, MongoTopologyClosedError } from 'mongodb';

/** The driver's names for a pool check-out that failed; it does not export the classes. */
const CHECK_OUT_FAILED = ['MongoWaitQueueTimeoutError', 'MongoPoolClearedError', 'MongoPoolClosedError'];

/**
 * Whether a driver error comes from before the command was written to a socket: no server was found, no connection came
 * free, or none could be established. Holds for clients whose retries are off alone (`createMongoClient`): a retry ends
 * in the same errors after a command that was sent.
 */
export function failedBeforeSending(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof MongoServerSelectionError || error instanceof MongoTopologyClosedError) return true;
  if (error instanceof MongoNotConnectedError || CHECK_OUT_FAILED.includes(error.name)) return true;
  const { syscall } = (error.cause ?? {}) as NodeJS.ErrnoException;
  // The plain network error: those that derive from it also befall connections with a command in flight.
  return error.name === 'MongoNetworkError' && syscall === 'connect';
}
