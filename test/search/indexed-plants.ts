import { creationEntry } from '@plant-store/audit/ledger/audit-entry';
import { mongoAuditLog } from '@plant-store/audit/mongo/mongo-audit-log';
import { createAuditChains, creationChains } from '@plant-store/audit/sealing/audit-chains';
import { sealEntries } from '@plant-store/audit/sealing/seal-entries';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import { type SearchEntry, searchEntry } from '@plant-store/search/search-entry';
import type { Indexes } from '@plant-store/search/search-plants';
import { type Collection, type Db, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll } from 'vitest';
import { createIndexes } from '../harness/servers/create-indexes.ts';
import { testDatabase } from '../harness/servers/servers.ts';

export type IndexedPlants = Indexes & {
  database: Db;
  search: Collection<SearchEntry>;
  /** Indexes and audits the plants, as a worker does with one batch. */
  add: (...plants: PlantDocument[]) => Promise<void>;
};

/** An empty search index and audit log with their indexes, of this file alone. Call it at the top of a file. */
export function indexedPlants(): IndexedPlants {
  const mongo = new MongoClient(testDatabase().url, { useBigInt64: true, ignoreUndefined: true });
  const database = mongo.db();
  const search = database.collection<SearchEntry>('plant_search');
  const sealing = {
    log: mongoAuditLog(mongo, database.databaseName),
    chains: createAuditChains(creationChains(2), Math.random),
    bounds: { entriesMax: 100, bytesMax: 1_000_000 },
    sealer: 'worker-1',
    now: () => new Date(),
    random: Math.random,
    on: { sealed: () => {}, collided: () => {}, unknown: () => {} },
  };
  beforeAll(() => createIndexes(database));
  afterAll(() => mongo.close());
  return {
    database,
    search,
    index: mongoTermIndex(database),
    audited: mongoAuditedIndex(database),
    add: async (...plants) => {
      await search.insertMany(plants.map((plant) => searchEntry(plant, new Date())));
      await sealEntries(sealing, plants.map(creationEntry));
    },
  };
}

export const START = Date.UTC(2026, 0, 1);

/** A stored plant; those with higher ids were created later. */
export function plantOf(id: number, name: string, fields: Partial<PlantDocument> = {}): PlantDocument {
  return {
    _id: BigInt(id),
    name,
    created: new Date(START + id * 1_000),
    commit: new ObjectId(),
    by: { sub: 'client-1' },
    from: { address: '192.0.2.7', request: `request-${id}`, instance: 'api-1' },
    ...fields,
  };
}
