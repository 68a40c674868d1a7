import { failedBeforeSending } from '@plant-store/platform/mongo/mongo-errors';
import { MongoBulkWriteError, MongoNetworkError, MongoServerError } from 'mongodb';

const DUPLICATE_KEY = 11_000;

/**
 * Error codes (mongod's error_codes.yml) caused by the server's state, not by the documents: it starts, stops, steps
 * down, is fenced, slow, locked, full or without a majority.
 */
const SERVER_STATES: ReadonlySet<unknown> = new Set([
  6, 7, 24, 43, 46, 50, 64, 79, 89, 91, 100, 112, 133, 134, 175, 189, 202, 211, 237, 246, 262, 290, 9001,
  10_058, 10_107, 11_600, 11_602, 13_435, 13_436, 14_031,
]);

export const isServerState = (code: unknown): boolean => SERVER_STATES.has(code);

/**
 * Whether an operation failed because of the database's state, not because of what was sent: then a retry can succeed.
 * The outcome of a write is unknown in that case.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof MongoNetworkError || failedBeforeSending(error)) return true;
  if (error instanceof MongoBulkWriteError) {
    if (error.result.getWriteConcernError() !== undefined) return true;
    // insertMany wraps the driver's own errors, a lost connection too: they alone have neither code nor write errors.
    if (error.code === undefined && error.result.getWriteErrorCount() === 0) return true;
  }
  return error instanceof MongoServerError && SERVER_STATES.has(error.code);
}

/** The result of an unordered insert that was acknowledged only in part, by positions in the list that was sent. */
export type PartialInsert = {
  /** Already stored, though perhaps not yet by a majority. */
  duplicates: number[];
  /** Not stored; a retry of the same document would fail in the same way. */
  rejected: { index: number; reason: string }[];
};

/**
 * Reads a failed insertMany. What is in neither list was stored with the write concern that was asked for.
 * @throws the error itself when it says something about the server: then nothing is known of any document. (With a
 * write concern error the driver's `writeErrors` is empty; the result has them.)
 */
export function partialInsert(error: unknown): PartialInsert {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError() !== undefined)
    throw error;
  const writeErrors = error.result.getWriteErrors();
  if (writeErrors.length === 0 || writeErrors.some(({ code }) => SERVER_STATES.has(code))) throw error;
  const partial: PartialInsert = { duplicates: [], rejected: [] };
  for (const { index, code, errmsg } of writeErrors) {
    if (code === DUPLICATE_KEY) partial.duplicates.push(index);
    else partial.rejected.push({ index, reason: `${errmsg ?? 'rejected'} (${code})` });
  }
  return partial;
}
