import { creationEntry } from '@plant-store/audit/ledger/audit-entry';
import { sealEntries } from '@plant-store/audit/sealing/seal-entries';
import { searchEntry } from '@plant-store/search/search-entry';
import { type Db, MongoClient, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PlantDocument } from '../../../packages/contracts/src/plant-document.ts';
import { createMongoClient } from '../../../packages/platform/src/mongo/mongo.ts';
import { processCommits } from '../../../services/worker/src/jobs/process-commits.ts';
import { mongoPendingCommits } from '../../../services/worker/src/outbox/mongo-pending-commits.ts';
import { createIndexes } from '../../harness/servers/create-indexes.ts';
import { longTimeouts } from '../../harness/servers/long-timeouts.ts';
import { privateReplicaSet } from '../../harness/servers/private-servers.ts';
import { needsServers } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { processing, sealing } from '../batch-parts.ts';
import { expectProcessed, readChains } from '../processed.ts';
import { pendingPlant, storeCommit } from '../stored-plants.ts';

/**
 * What a failover could take back must decide nothing. Two of three members stop applying what the primary writes: it
 * stays primary, and has writes that no majority has.
 */
needsServers();
const DATABASE = 'majority';
const APP_NAME = 'majority-test';
/** What an operation takes that waits for nobody, many times over. */
const HELD_BACK_MS = 300;
const PAGE = 100;
const LOCAL = { writeConcern: { w: 1 } } as const;
let set: Awaited<ReturnType<typeof privateReplicaSet>>;
let client: MongoClient;
let database: Db;
let operator: MongoClient;
let secondaries: MongoClient[];

beforeAll(async () => {
  set = await privateReplicaSet();
  client = createMongoClient(set.url, APP_NAME, longTimeouts);
  operator = createMongoClient(set.url, 'majority-test-operator');
  database = client.db(DATABASE);
  await createIndexes(database);
  const members = set.members.map(
    ({ port }) => new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`),
  );
  secondaries = await waitFor(
    async () => {
      const roles = await Promise.all(members.map((member) => member.db('admin').command({ hello: 1 })));
      const found = members.filter((_member, index) => roles[index]?.['secondary'] === true);
      return found.length === 2 ? found : undefined;
    },
    { withinMs: 30_000, what: 'two members are secondaries' },
  );
  await Promise.all(
    members.filter((member) => !secondaries.includes(member)).map((member) => member.close()),
  );
});
beforeEach(async () => {
  await Promise.all(
    ['plants', 'plant_search', 'audit_blocks'].map((name) => database.collection(name).deleteMany()),
  );
});
afterEach(() => replication('off'));
afterAll(async () => {
  await Promise.all([client, operator, ...(secondaries ?? [])].map((each) => each?.close()));
  await set?.close();
});

async function replication(stop: 'alwaysOn' | 'off'): Promise<void> {
  for (const secondary of secondaries) {
    await secondary.db('admin').command({ configureFailPoint: 'rsSyncApplyStop', mode: stop });
  }
}

const plants = () => database.collection<PlantDocument>('plants');
const worker = () => processing(client, DATABASE);

test('a plant that no majority has is neither indexed nor audited, and no relay sees its commit', async () => {
  await replication('alwaysOn');
  const commit = new ObjectId();
  await plants().insertOne(pendingPlant(commit), LOCAL);
  await processCommits(worker(), [commit.toHexString()], PAGE);
  expect(await database.collection('plant_search').countDocuments()).toBe(0);
  expect(await readChains(database)).toEqual([]);
  expect((await mongoPendingCommits(client, DATABASE).page(undefined)).commits).toEqual([]);

  await replication('off');
  await processAtLast(commit.toHexString());
});

test('a member of a commit that no majority has yet stays pending when the others are cleared', async () => {
  const { commit } = await storeCommit(plants(), 3);
  const late = pendingPlant(new ObjectId(commit));
  const base = worker();
  const deps: typeof base = {
    ...base,
    audit: async (entries) => {
      const rejected = await base.audit(entries);
      await replication('alwaysOn');
      await plants().insertOne(late, LOCAL);
      return rejected;
    },
  };
  await processCommits(deps, [commit], PAGE);
  expect(await plants().countDocuments({ pending: true })).toBe(1);
  expect(await plants().findOne({ _id: late._id })).toMatchObject({ pending: true });
});

test('as long as no majority has the index entry, nothing is audited and every plant stays pending', async () => {
  const { commit, plants: stored } = await storeCommit(plants(), 3);
  await replication('alwaysOn');
  await expect(processCommits(worker(), [commit], PAGE)).rejects.toThrow();
  expect(await plants().countDocuments({ pending: true })).toBe(stored.length);
  expect(await readChains(database)).toEqual([]);

  await replication('off');
  await processAtLast(commit);
});

test('an index entry of another worker that no majority has yet is waited for', async () => {
  const { commit, plants: stored } = await storeCommit(plants(), 3);
  await replication('alwaysOn');
  await database.collection<{ _id: bigint }>('plant_search').insertMany(
    stored.map((plant) => searchEntry(plant, new Date())),
    LOCAL,
  );
  let cleared = false;
  const processing = processCommits(worker(), [commit], PAGE).then(() => {
    cleared = true;
  });
  await untilHeldBack('plant_search');
  expect(cleared).toBe(false);
  await replication('off');
  await processing;
  await expectProcessed(database);
});

test('as long as no majority has the audit block, every plant stays pending', async () => {
  const { commit, plants: stored } = await storeCommit(plants(), 3);
  const base = worker();
  const deps: typeof base = {
    ...base,
    index: async (entries) => {
      const rejected = await base.index(entries);
      await replication('alwaysOn');
      return rejected;
    },
  };
  await expect(processCommits(deps, [commit], PAGE)).rejects.toThrow();
  expect(await plants().countDocuments({ pending: true })).toBe(stored.length);
  await replication('off');
  await processAtLast(commit);
});

test('a block that collided with one that no majority has yet waits for it, and its events are audited once', async () => {
  const { plants: stored } = await storeCommit(plants(), 3);
  const entries = stored.map(creationEntry);
  // Another worker's block, as far as the primary has it.
  await sealEntries(sealing(client, DATABASE, { sealer: 'worker-2' }), entries);
  const [theirs] = await database.collection('audit_blocks').find().toArray();
  await database.collection('audit_blocks').deleteMany();
  await replication('alwaysOn');
  await database.collection('audit_blocks').insertOne(theirs as object, LOCAL);

  const deps = sealing(client, DATABASE);
  let done = false;
  const seal = sealEntries(deps, entries).then(() => {
    done = true;
  });
  await untilHeldBack('audit_blocks');
  expect(done).toBe(false);
  await replication('off');
  await seal;
  expect(deps.collisions()).toBe(1);
  expect(await readChains(database)).toHaveLength(1);
});

/** As a job does it: what fails or finds nothing, since a majority is late, is done again. */
async function processAtLast(commit: string): Promise<void> {
  await waitFor(
    async () => {
      await processCommits(worker(), [commit], PAGE);
      return (await plants().countDocuments({ pending: true })) === 0;
    },
    { withinMs: 10_000, what: 'the commit is processed once a majority has it' },
  );
  await expectProcessed(database);
}

/** Waits until the database has held back one operation on this collection for a while. */
async function untilHeldBack(collection: string): Promise<void> {
  const commands = ['insert', 'find', 'aggregate'].map((name) => ({ [`command.${name}`]: collection }));
  const pipeline = [{ $currentOp: {} }, { $match: { appName: APP_NAME, $or: commands } }];
  const since = new Map<string, number>();
  await waitFor(
    async () => {
      const operations = await operator.db('admin').aggregate(pipeline).toArray();
      const seen = operations.map(({ opid }) => {
        const id = String(opid);
        since.set(id, since.get(id) ?? performance.now());
        return since.get(id) as number;
      });
      return performance.now() - Math.min(...seen) > HELD_BACK_MS;
    },
    { withinMs: 4_000, what: `an operation on ${collection} waits for a majority` },
  );
}
