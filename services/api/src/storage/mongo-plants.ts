import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { failedBeforeSending } from '@plant-store/platform/mongo-errors';
import { Binary, type Collection, MongoBulkWriteError, type MongoClient, ObjectId } from 'mongodb';
import type { Creation, InsertReport, PlantStore, StoredPlant } from '../domain/create-plant.ts';

const DUPLICATE_KEY = 11_000;

/**
 * The plants in MongoDB.
 * - Inserts wait for a journaled majority: with less, kill -9 or a failover loses acknowledged plants (S1).
 * - Reads that settle are majority reads: a local one may show what a failover then rolls back (S1).
 */
export function mongoPlants(client: MongoClient, database: string, instance: string): PlantStore {
  const plants = client.db(database).collection<PlantDocument>(PLANTS);
  const settled = client
    .db(database)
    .collection<PlantDocument>(PLANTS, { readConcern: { level: 'majority' } });

  return {
    insert: (commit, creations, budgetMs) => {
      const documents = creations.map((creation) => toDocument(creation, commit, instance));
      return within(budgetMs, insertTogether(plants, documents, budgetMs), {
        sent: true,
        occupied: 'unknown',
      });
    },
    read: (ids, budgetMs) => within(budgetMs, readStored(settled, ids, budgetMs), undefined),
  };
}

async function insertTogether(
  plants: Collection<PlantDocument>,
  documents: PlantDocument[],
  budgetMs: number,
): Promise<InsertReport> {
  try {
    await plants.insertMany(documents, {
      ordered: false,
      writeConcern: { w: 'majority', journal: true },
      maxTimeMS: Math.ceil(budgetMs),
    });
    return { sent: true, occupied: new Set() };
  } catch (error) {
    if (failedBeforeSending(error)) return { sent: false };
    return { sent: true, occupied: occupiedIds(error, documents) };
  }
}

/**
 * The ids that were refused as duplicates, when that is all that went wrong: everything else then is acknowledged.
 * A write concern error, or any other, leaves every plant of the commit unknown. (With code 64 `error.writeErrors` is
 * empty: the duplicates stand in the result alone.)
 */
function occupiedIds(error: unknown, documents: readonly PlantDocument[]): ReadonlySet<bigint> | 'unknown' {
  if (!(error instanceof MongoBulkWriteError)) return 'unknown';
  const writeErrors = error.result.getWriteErrors();
  const onlyDuplicates =
    writeErrors.length > 0 &&
    error.result.getWriteConcernError() === undefined &&
    writeErrors.every(({ code }) => code === DUPLICATE_KEY);
  if (!onlyDuplicates) return 'unknown';
  return new Set(writeErrors.map(({ index }) => (documents[index] as PlantDocument)._id));
}

async function readStored(
  plants: Collection<PlantDocument>,
  ids: readonly bigint[],
  budgetMs: number,
): Promise<ReadonlyMap<bigint, StoredPlant> | undefined> {
  try {
    const found = await plants.find({ _id: { $in: [...ids] } }, { maxTimeMS: Math.ceil(budgetMs) }).toArray();
    return new Map(found.map((document) => [document._id, toStored(document)]));
  } catch {
    return undefined;
  }
}

function toDocument(creation: Creation, commit: string, instance: string): PlantDocument {
  const { plant, principal, origin, keyHash } = creation;
  return {
    _id: plant.id,
    name: plant.name,
    ...(plant.tag !== undefined && { tag: plant.tag }),
    created: new Date(),
    commit: new ObjectId(commit),
    pending: true,
    by: {
      sub: principal.subject,
      ...(principal.issuer !== undefined && { iss: principal.issuer }),
      ...(principal.tokenId !== undefined && { jti: principal.tokenId }),
    },
    from: { ...origin, instance },
    ...(keyHash !== undefined && { key: Binary.createFromHexString(keyHash) }),
  };
}

function toStored({ _id, name, tag, commit, by, key }: PlantDocument): StoredPlant {
  return {
    plant: { id: _id, name, ...(tag !== undefined && { tag }) },
    principal: {
      subject: by.sub,
      ...(by.iss !== undefined && { issuer: by.iss }),
      ...(by.jti !== undefined && { tokenId: by.jti }),
    },
    commit: commit.toHexString(),
    ...(key !== undefined && { keyHash: key.toString('hex') }),
  };
}

/** The work's answer, or `late` after `ms`; what comes after that is dropped. The work itself must not reject. */
function within<T>(ms: number, work: Promise<T>, late: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, late);
    void work.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
