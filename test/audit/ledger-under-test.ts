import type { AnchoringDeps } from '@plant-store/audit/anchoring/keep-anchoring';
import { type Anchor, makeAnchor, type SigningKey } from '@plant-store/audit/ledger/anchor';
import { generateAnchorKey, readPublicKeys, readSigningKey } from '@plant-store/audit/ledger/anchor-keys';
import { creationEntry } from '@plant-store/audit/ledger/audit-entry';
import { mongoAnchors } from '@plant-store/audit/mongo/mongo-anchors';
import { mongoAuditLog } from '@plant-store/audit/mongo/mongo-audit-log';
import { createAuditChains } from '@plant-store/audit/sealing/audit-chains';
import { sealEntries } from '@plant-store/audit/sealing/seal-entries';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { createMongoClient } from '@plant-store/platform/mongo/mongo';
import { mongoSearchIndex } from '@plant-store/search/mongo/mongo-search-index';
import { searchEntry } from '@plant-store/search/search-entry';
import { type Db, type MongoClient, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createIndexes } from '../harness/servers/create-indexes.ts';
import { longTimeouts } from '../harness/servers/long-timeouts.ts';
import { testDatabase } from '../harness/servers/servers.ts';

/** A key pair of the kind that signs anchors. */
export function anchorKey() {
  const { privateKey, publicKey } = generateAnchorKey();
  return {
    signing: readSigningKey(privateKey),
    public: readPublicKeys(publicKey),
    pem: { privateKey, publicKey },
  };
}

export type LedgerUnderTest = {
  url: string;
  client: MongoClient;
  database: Db;
  /**
   * Stores, indexes and audits plants, as API and worker do, in one block of the chain; answers them. Blocks of chain 0 do
   * not tell when the job was published, as those before version 1.1.
   */
  create: (chain: number, ...names: string[]) => Promise<PlantDocument[]>;
  /** Makes the next anchor now. */
  anchor: (key: SigningKey, now?: Date) => Promise<Anchor>;
};

/** An empty store with all its indexes, of this file alone, emptied after each test. Call it at the top of a file. */
export function ledgerUnderTest(): LedgerUnderTest {
  const { url, name } = testDatabase();
  const client = createMongoClient(url, 'ledger-test', longTimeouts);
  const database = client.db(name);
  beforeAll(() => createIndexes(database));
  afterEach(async () => {
    for (const { name: collection } of await database.listCollections().toArray()) {
      await database.collection(collection).deleteMany();
    }
  });
  afterAll(() => client.close());

  let next = 0n;
  return {
    url,
    client,
    database,
    async create(chain, ...names) {
      const commit = new ObjectId();
      const plants = names.map((plantName): PlantDocument => {
        next += 1n;
        return {
          _id: next,
          name: plantName,
          tag: 'Fleur',
          created: new Date(),
          commit,
          pending: true,
          by: { sub: 'client-1', jti: 'token-1' },
          from: { address: '192.0.2.7', request: `request-${next}`, requestBy: 'gateway', instance: 'api-1' },
        };
      });
      await database.collection<PlantDocument>('plants').insertMany(plants);
      await mongoSearchIndex(client, name).add(plants.map((plant) => searchEntry(plant, new Date())));
      const sealing = {
        log: mongoAuditLog(client, name),
        chains: createAuditChains([chain], Math.random),
        bounds: { entriesMax: 1_000, bytesMax: 1_000_000 },
        sealer: 'worker-1',
        now: () => new Date(),
        random: Math.random,
        on: { sealed: () => {}, collided: () => {}, unknown: () => {} },
      };
      const now = new Date();
      const published = chain === 0 ? undefined : { first: new Date(now.getTime() - 5), last: now };
      await sealEntries(sealing, plants.map(creationEntry), published);
      await database.collection<PlantDocument>('plants').updateMany({ commit }, { $unset: { pending: '' } });
      for (const plant of plants) delete plant.pending;
      return plants;
    },
    async anchor(key, now = new Date()) {
      const store = mongoAnchors(client, name);
      const last = await store.last();
      const anchor = makeAnchor(last, await store.heads(last?.heads ?? []), now, key);
      await store.add(anchor);
      return anchor;
    },
  };
}

/** One worker's anchoring on the real database. */
export function anchoring(
  client: MongoClient,
  name: string,
  key: SigningKey,
  { on = {}, ...deps }: Partial<Omit<AnchoringDeps, 'on'>> & { on?: Partial<AnchoringDeps['on']> } = {},
): AnchoringDeps {
  const silent = () => {};
  return {
    store: mongoAnchors(client, name),
    key,
    intervalMs: 60_000,
    emit: undefined,
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    random: Math.random,
    on: { made: silent, changed: silent, failed: silent, works: silent, ...on },
    ...deps,
  };
}
