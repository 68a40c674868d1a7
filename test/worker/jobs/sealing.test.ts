import type { CreationEntry } from '@plant-store/audit/ledger/audit-entry';
import type { AuditLog, AuditLogSession } from '@plant-store/audit/sealing/audit-log';
import { sealEntries } from '@plant-store/audit/sealing/seal-entries';
import type { Db, MongoClient } from 'mongodb';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMongoClient } from '../../../packages/platform/src/mongo/mongo.ts';
import { createIndexes } from '../../harness/servers/create-indexes.ts';
import { longTimeouts } from '../../harness/servers/long-timeouts.ts';
import { type PrivateServer, privateMongod } from '../../harness/servers/private-servers.ts';
import { needsServers } from '../../harness/servers/servers.ts';
import { sealing } from '../batch-parts.ts';
import { readChains } from '../processed.ts';

const COMMIT = new ObjectId('6650f0c2a1b2c3d4e5f60700');

/** Fail points are for the clients of this name alone. */
const APP_NAME = 'sealing-test';

needsServers();
const DATABASE = 'sealing';
// A mongod of its own: fail points are one a server, and other files set theirs.
let mongod: PrivateServer;
let client: MongoClient;
let operator: MongoClient;
let database: Db;

beforeAll(async () => {
  mongod = await privateMongod();
  client = createMongoClient(mongod.url, APP_NAME, longTimeouts);
  operator = createMongoClient(mongod.url, 'sealing-test-operator');
  database = client.db(DATABASE);
  await createIndexes(database);
});
beforeEach(() => database.collection('audit_blocks').deleteMany());
afterEach(() => failNextInserts({ mode: 'off' }));
afterAll(async () => {
  await client?.close();
  await operator?.close();
  await mongod?.close();
});

let next = 0n;
const entries = (count: number): CreationEntry[] =>
  Array.from({ length: count }, () => ({
    event: ++next,
    action: 'created',
    plant: next,
    content: '01'.repeat(32),
    commit: COMMIT,
    who: { sub: 's' },
    when: new Date(),
    from: { address: 'a', request: 'r', instance: 'i' },
  }));

async function expectSealedOnce(expected: readonly CreationEntry[]): Promise<void> {
  const sealed = (await readChains(database)).flatMap((block) =>
    block.entries.map(({ event }) => String(event)),
  );
  expect(sealed.toSorted()).toEqual(expected.map(({ event }) => String(event)).toSorted());
}

async function failNextInserts(fault: {
  mode: 'off' | { times: number };
  data?: Record<string, unknown>;
}): Promise<void> {
  const data = { failCommands: ['insert'], appName: APP_NAME, ...fault.data };
  await operator.db('admin').command({ configureFailPoint: 'failCommand', mode: fault.mode, data });
}

/** The log, with something happening right before each block is sent. */
function beforeAppend(happens: () => Promise<void>): (log: AuditLog) => AuditLog {
  return (log) => ({
    withSession: (work) =>
      log.withSession((session) => {
        const append: AuditLogSession['append'] = async (block) => {
          await happens();
          return session.append(block);
        };
        return work({ ...session, append });
      }),
  });
}

test('two sealers forced onto one chain: neither forks it, and nothing is lost', async () => {
  const own = entries(3);
  const foreign = entries(4);
  const other = sealing(client, DATABASE, { sealer: 'worker-2' });
  let forced = false;
  const deps = sealing(client, DATABASE, {
    wrap: beforeAppend(async () => {
      if (forced) return;
      forced = true;
      await sealEntries(other, foreign);
    }),
  });
  expect(await sealEntries(deps, own)).toEqual([]);
  expect(deps.collisions()).toBe(1);
  await expectSealedOnce([...own, ...foreign]);
});

test('many sealers at one chain all get through', async () => {
  const all = Array.from({ length: 6 }, () => entries(5));
  await Promise.all(
    all.map((own, index) => sealEntries(sealing(client, DATABASE, { sealer: `worker-${index}` }), own)),
  );
  await expectSealedOnce(all.flat());
  expect(await readChains(database)).toHaveLength(6);
});

test('a head that was remembered while another sealed on the chain is dropped, and the block follows the new one', async () => {
  const [first, foreign, second, third] = [entries(1), entries(1), entries(1), entries(1)];
  const deps = sealing(client, DATABASE);
  await sealEntries(deps, first);
  await sealEntries(sealing(client, DATABASE, { sealer: 'worker-2' }), foreign);
  await sealEntries(deps, second);
  expect(deps.collisions()).toBe(1);
  await sealEntries(deps, third);
  expect(deps.collisions()).toBe(1);
  await expectSealedOnce([...first, ...foreign, ...second, ...third]);
});

test('after a collision it reads what is sealed and the head, appends, and then reads nothing more', async () => {
  const steps: string[] = [];
  const noted =
    <Args extends unknown[], T>(step: string, call: (...args: Args) => T) =>
    (...args: Args): T => {
      steps.push(step);
      return call(...args);
    };
  const deps = sealing(client, DATABASE, {
    wrap: (log) => ({
      withSession: (work) =>
        log.withSession((session) =>
          work({
            head: noted('head', session.head),
            append: noted('append', session.append),
            sealedAmong: noted('sealedAmong', session.sealedAmong),
          }),
        ),
    }),
  });
  const [first, foreign, second] = [entries(1), entries(1), entries(2)];
  await sealEntries(deps, first);
  await sealEntries(sealing(client, DATABASE, { sealer: 'worker-2' }), foreign);
  steps.length = 0;
  await sealEntries(deps, second);
  // The steps of the model: whoever has sealed clears next.
  expect(steps).toEqual(['append', 'sealedAmong', 'head', 'append']);
  await expectSealedOnce([...first, ...foreign, ...second]);
});

test('a remembered head saves the reads: a worker alone neither collides nor reads a head twice', async () => {
  let heads = 0;
  const deps = sealing(client, DATABASE, {
    wrap: (log) => ({
      withSession: (work) =>
        log.withSession((session) => {
          const head = (chain: number) => {
            heads++;
            return session.head(chain);
          };
          return work({ ...session, head });
        }),
    }),
  });
  for (let block = 0; block < 5; block++) await sealEntries(deps, entries(2));
  expect(heads).toBe(1);
  expect(deps.collisions()).toBe(0);
});

test('events that another worker has sealed already are left out, and the rest is sealed', async () => {
  const all = entries(10);
  await sealEntries(sealing(client, DATABASE, { sealer: 'worker-2' }), all.slice(2, 6));
  await sealEntries(sealing(client, DATABASE), all);
  await expectSealedOnce(all);
});

test('the same events sent by two sealers to different chains at once are audited once', async () => {
  const all = entries(20);
  const two = [0, 1].map((index) => sealing(client, DATABASE, { sealer: `worker-${index}`, chains: 8 }));
  await Promise.all(two.map((deps) => sealEntries(deps, all)));
  await expectSealedOnce(all);
});

test('an event given twice is audited once, though the index alone would let it pass within a block', async () => {
  const [entry] = entries(1) as [CreationEntry];
  await sealEntries(sealing(client, DATABASE), [entry, entry]);
  await expectSealedOnce([entry]);
});

test('a block whose connection breaks before it is applied is sealed anew', async () => {
  await failNextInserts({ mode: { times: 1 }, data: { closeConnection: true } });
  const own = entries(3);
  const deps = sealing(client, DATABASE);
  await sealEntries(deps, own);
  expect(deps.unknowns()).toBe(1);
  await expectSealedOnce(own);
});

test('a block that was applied without a confirmed majority is found, not sealed twice', async () => {
  const writeConcernError = { code: 64, errmsg: 'waiting for replication timed out' };
  await failNextInserts({ mode: { times: 1 }, data: { writeConcernError } });
  const own = entries(3);
  const deps = sealing(client, DATABASE);
  await sealEntries(deps, own);
  expect(deps.unknowns()).toBe(1);
  expect(await readChains(database)).toHaveLength(1);
  await expectSealedOnce(own);
});

test.each([91, 189, 11_602, 10_107])(
  'a block refused because the server changes state (%i) is sealed anew',
  async (code) => {
    await failNextInserts({ mode: { times: 1 }, data: { errorCode: code } });
    const own = entries(3);
    await sealEntries(sealing(client, DATABASE), own);
    await expectSealedOnce(own);
  },
);

test('a remembered head is dropped by any error, also one that told nothing about the chain', async () => {
  const deps = sealing(client, DATABASE);
  const [first, second] = [entries(1), entries(1)];
  await sealEntries(deps, first);
  await failNextInserts({ mode: { times: 1 }, data: { closeConnection: true } });
  const foreign = entries(1);
  await sealEntries(sealing(operator, DATABASE, { sealer: 'worker-2' }), foreign);
  await sealEntries(deps, second);
  expect(deps.collisions()).toBe(0);
  await expectSealedOnce([...first, ...foreign, ...second]);
});

test('a database that stays away fails the sealing within bounded time; nothing is half sealed', async () => {
  await failNextInserts({ mode: { times: 100 }, data: { closeConnection: true } });
  const own = entries(3);
  await expect(sealEntries(sealing(client, DATABASE), own)).rejects.toThrow();
  await expectSealedOnce([]);
  await failNextInserts({ mode: 'off' });
  await sealEntries(sealing(client, DATABASE), own);
  await expectSealedOnce(own);
});
