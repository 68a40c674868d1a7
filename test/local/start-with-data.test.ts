import { creationEntry } from '@plant-store/audit/ledger/audit-entry';
import { sealEntries } from '@plant-store/audit/sealing/seal-entries';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { createMongoClient } from '@plant-store/platform/mongo/mongo';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endProcessesOf } from '../harness/processes/processes.ts';
import { longTimeouts } from '../harness/servers/long-timeouts.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { sealing } from '../worker/batch-parts.ts';
import {
  dataDirectory,
  printedCurl,
  removeDataDirectory,
  type StartedSystem,
  sendCurl,
  startSystem,
} from './started-system.ts';

needsServers();
/** STORED_PLANTS=1000000 is the size for which the bound was measured; fewer find what grows with the data as well. */
const PLANTS = Number(process.env['STORED_PLANTS'] ?? 50_000);
const BATCH = 10_000;
/** Eight times what it takes on two cores that have nothing else to do. */
const START_S_MAX = 20;
/** A start reads its bookkeeping, and no document per plant. */
const DOCUMENTS_READ_MAX = 1_000;

let dataDir: string;
let system: StartedSystem;

beforeAll(async () => {
  dataDir = await dataDirectory();
  system = await startSystem(dataDir);
  expect((await sendCurl(printedCurl(system))).status).toBe(200);
});
afterAll(async () => {
  await system.stop();
  await endProcessesOf(dataDir);
  await removeDataDirectory(dataDir);
});

test(`npm start over ${PLANTS} plants is ready in time, since it reads none of them`, async () => {
  await storePlants();
  expect((await system.stop()).code).toBe(0);

  system = await startSystem(dataDir);
  await using mongo = new MongoClient(system.runFile().mongodb);
  const { metrics } = await mongo.db('admin').command({ serverStatus: 1 });
  const { scanned, scannedObjects } = metrics.queryExecutor;
  expect(Number(scanned) + Number(scannedObjects)).toBeLessThan(DOCUMENTS_READ_MAX);
  expect(await mongo.db().collection('plants').estimatedDocumentCount()).toBeGreaterThan(PLANTS);

  const seconds = Number(/Ready after ([\d.]+) s/.exec(system.printed())?.[1]);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(START_S_MAX);
}, 600_000);

/** Copies of the plant that was created, as they look once they are indexed and audited. */
async function storePlants(): Promise<void> {
  const client = createMongoClient(system.runFile().mongodb, 'start-with-data', longTimeouts);
  try {
    const database = client.db();
    const copies = async (name: string, keep: (copies: PlantDocument[]) => Promise<unknown>) => {
      const collection = database.collection<PlantDocument>(name);
      const processed = () => collection.findOne({ pending: { $exists: false } });
      const document = await waitFor(processed, { withinMs: 30_000, what: `a plant in ${name}` });
      for (let first = 1; first <= PLANTS; first += BATCH) {
        const some = Array.from({ length: BATCH }, (_, index) => ({
          ...document,
          _id: BigInt(first + index),
        }));
        await collection.insertMany(some, { ordered: false });
        await keep(some);
      }
    };
    await copies('plant_search', async () => {});
    const deps = sealing(client, database.databaseName, { sealer: 'start-with-data' });
    await copies('plants', async (plants) => {
      expect(await sealEntries(deps, plants.map(creationEntry))).toEqual([]);
    });
    expect(await auditedPlants(database)).toBeGreaterThan(PLANTS);
  } finally {
    await client.close();
  }
}

async function auditedPlants(database: Db): Promise<number> {
  const [sum] = await database
    .collection('audit_blocks')
    .aggregate<{ entries: number }>([{ $group: { _id: null, entries: { $sum: { $size: '$entries' } } } }])
    .toArray();
  return Number(sum?.entries);
}
