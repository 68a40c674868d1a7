import { auditIndexes, plantIndexes, searchIndexes } from '@plant-store/contracts/indexes';
import { ensureIndexes } from '@plant-store/platform/mongo/mongo-indexes';
import type { Db } from 'mongodb';

const NEVER = new AbortController().signal;

/** Creates every index of the product, where no service does. @throws Error at the first one that cannot be created. */
export function createIndexes(database: Db): Promise<void> {
  return ensureIndexes(database, [...plantIndexes, ...searchIndexes, ...auditIndexes], fail, NEVER);
}

function fail(error: unknown): never {
  throw error;
}
