import { failedBeforeSending } from '@plant-store/platform/mongo/mongo-errors';
import { MongoBulkWriteError, MongoNetworkError, MongoServerError } from 'mongodb';

const DUPLICATE_KEY = 11_000;

/**
 * Answers that tell of the server's state and not of the documents: it starts, stops, steps down, is fenced, slow,
 * locked, full or without a majority. (mongod's error_codes.yml)
 */
const SERVER_STATES: ReadonlySet<unknown> = new Set([
  6, 7, 24, 43, 46, 50, 64, 79, 89, 91, 100, 112, 133, 134, 175, 189, 202, 211, 237, 246, 262, 290, 9001,
  10_058, 10_107, 11_600, 11_602, 13_435, 13_436, 14_031,
]);

/**
 * Whether the database, and not what it was sent, is why an operation failed: then the same will do later. Outcomes of
 * writes are unknown in that case.
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

/** What an unordered insert that was not simply acknowledged did, by positions in what was sent. */
export type PartialInsert = {
  /** There already, though perhaps not yet by majority. */
  duplicates: number[];
  /** Not stored, and never will be as they are. */
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
