import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { InvalidPlant, readPlant } from '@plant-store/contracts/read-plant';
import { within } from '@plant-store/platform/concurrency/within';
import { failedBeforeSending } from '@plant-store/platform/mongo/mongo-errors';
import { isDatabaseAway, isServerState } from '@plant-store/platform/mongo/mongo-failures';
import { Binary, type Collection, type Db, type MongoClient, ObjectId } from 'mongodb';
import type { Creation } from '../domain/creation.ts';
import type { Commit, InsertReport, PlantStore, Stored, StoredPlant } from '../domain/plant-store.ts';

const DUPLICATE_KEY = 11_000;

/**
 * The plants in MongoDB.
 * - Inserts wait for a journaled majority: with less, kill -9 or a failover loses acknowledged plants (S1).
 * - Reads that resolve an outcome are majority reads: a local read may return a plant that a failover rolls back (S1).
 */
export function mongoPlants(options: {
  client: MongoClient;
  database: string;
  /** Stored with each plant: which replica created it. */
  instance: string;
  onInserted: (insert: { commit: string; plants: number; ms: number; report: InsertReport }) => void;
  onReadFailed: (read: { plants: number; reason: string }) => void;
}): PlantStore {
  const db = options.client.db(options.database);
  const plants = db.collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });

  return {
    async insert(commit, creations, budgetMs) {
      const started = performance.now();
      const documents = toDocuments(creations, commit, options.instance);
      const report = await within<InsertReport>(budgetMs, insertTogether(db, documents, budgetMs), {
        sent: true,
        occupied: 'unknown',
        reason: `no answer within ${Math.round(budgetMs)} ms`,
      });
      const ms = performance.now() - started;
      options.onInserted({ commit: commit.id, plants: creations.length, ms, report });
      return report;
    },
    async read(ids, budgetMs) {
      const found = await within<readonly unknown[] | string>(
        budgetMs,
        readDocuments(plants, ids, budgetMs),
        `no answer within ${Math.round(budgetMs)} ms`,
      );
      if (typeof found === 'string') {
        options.onReadFailed({ plants: ids.length, reason: found });
        return undefined;
      }
      return new Map(found.flatMap(toStored));
    },
  };
}

/** What the `insert` command replies; errors of the whole command are thrown by the driver. */
type InsertReply = {
  writeErrors?: { index: number; code: number; errmsg: string }[];
  writeConcernError?: { errmsg: string };
};

/**
 * Sends one `insert` command. The driver's `insertMany` is not used, because it wraps every error, even a failed server
 * selection, and hides whether anything was sent.
 */
async function insertTogether(
  db: Db,
  documents: readonly PlantDocument[],
  budgetMs: number,
): Promise<InsertReport> {
  try {
    const reply: InsertReply = await db.command({
      insert: PLANTS,
      documents,
      ordered: false,
      writeConcern: { w: 'majority', j: true },
      maxTimeMS: Math.ceil(budgetMs),
    });
    return toReport(reply, documents);
  } catch (error) {
    const reason = String(error);
    if (failedBeforeSending(error)) return { sent: false, reason };
    return { sent: true, occupied: 'unknown', reason, databaseAway: isDatabaseAway(error) };
  }
}

/**
 * If all errors are duplicate keys, the other plants are acknowledged. After a write concern error or any other error,
 * the outcome of every plant of the commit is unknown.
 */
function toReport(reply: InsertReply, documents: readonly PlantDocument[]): InsertReport {
  const { writeErrors = [], writeConcernError } = reply;
  if (writeConcernError !== undefined)
    return { sent: true, occupied: 'unknown', reason: writeConcernError.errmsg };
  const fault = writeErrors.find(({ code }) => code !== DUPLICATE_KEY);
  if (fault !== undefined) {
    const { errmsg: reason, code } = fault;
    return { sent: true, occupied: 'unknown', reason, databaseAway: isServerState(code) };
  }
  const occupied = writeErrors.map(({ index }) => (documents[index] as PlantDocument)._id);
  return { sent: true, occupied: new Set(occupied) };
}

/** The documents under these ids, or why they cannot be read. */
async function readDocuments(
  plants: Collection<PlantDocument>,
  ids: readonly bigint[],
  budgetMs: number,
): Promise<readonly unknown[] | string> {
  try {
    // One document whose text is no UTF-8 would otherwise fail the read of all others.
    const options = { maxTimeMS: Math.ceil(budgetMs), enableUtf8Validation: false };
    return await plants.find({ _id: { $in: [...ids] } }, options).toArray();
  } catch (error) {
    return String(error);
  }
}

export function toDocuments(
  creations: readonly Creation[],
  { id, created }: Commit,
  instance: string,
): PlantDocument[] {
  const commit = new ObjectId(id);
  return creations.map(({ plant, principal, origin, keyHash }) => ({
    _id: plant.id,
    name: plant.name,
    ...(plant.tag !== undefined && { tag: plant.tag }),
    created,
    commit,
    pending: true,
    by: {
      sub: principal.subject,
      ...(principal.issuer !== undefined && { iss: principal.issuer }),
      ...(principal.tokenId !== undefined && { jti: principal.tokenId }),
    },
    from: { ...origin, instance },
    ...(keyHash !== undefined && { key: Binary.createFromHexString(keyHash) }),
  }));
}

/**
 * Accepts whatever lies in the collection: one malformed document must not fail the read of the others. An id that
 * another program stored as int32, double or decimal occupies the same int64. A decimal that is not written as a whole
 * number (7.0) is left out: creates of that id end in 5002.
 */
function toStored(document: unknown): [id: bigint, stored: Stored][] {
  const id = String((document as { _id: unknown })._id);
  if (!/^-?\d+$/.test(id)) return [];
  try {
    return [[BigInt(id), toStoredPlant(readPlant(document))]];
  } catch (error) {
    if (!(error instanceof InvalidPlant)) throw error;
    return [[BigInt(id), 'foreign']];
  }
}

function toStoredPlant({ _id, name, tag, commit, by, key }: PlantDocument): StoredPlant {
  return {
    plant: { id: _id, name, ...(tag !== undefined && { tag }) },
    principal: {
      subject: by.sub,
      ...(by.iss !== undefined && { issuer: by.iss }),
      ...(by.jti !== undefined && { tokenId: by.jti }),
    },
    commit: commit.toHexString(),
    ...(key instanceof Binary && { keyHash: key.toString('hex') }),
  };
}
