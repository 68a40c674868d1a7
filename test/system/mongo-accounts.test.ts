import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { auditIndexes } from '@plant-store/contracts/indexes';
import { serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { freePort } from '@plant-store/local/servers/free-port';
import { mongodCommand } from '@plant-store/local/servers/mongod';
import { type ServerProcess, startServer } from '@plant-store/local/servers/server-process';
import { accounts } from '@plant-store/mongodb/accounts';
import { ensureIndexes } from '@plant-store/platform/mongo/mongo-indexes';
import { execa } from 'execa';
import { type Db, MongoClient, ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabaseReader } from '../../services/ops/src/status/reading/database-status.ts';
import { postPlant } from '../harness/api/post-plant.ts';
import { TEST_SECRET } from '../harness/api/tokens.ts';
import { opsUsers } from '../harness/ops-users.ts';
import { startProgram } from '../harness/processes/program.ts';
import { testMongodArgs } from '../harness/servers/local-servers.ts';
import { testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { signedIn } from '../ops/visitor.ts';

const root = resolve(import.meta.dirname, '../..');
const passwords = {
  api: 'password-of-the-api',
  worker: 'password-of-the-worker',
  ops: 'password-of-ops',
  commands: 'password-of-the-commands',
};
type Service = keyof typeof passwords;
const services = Object.keys(passwords) as Service[];
const olga = { name: 'olga', role: 'operator', password: 'password-of-olga' } as const;
const UNAUTHORIZED = 13;

const queue = testQueue();
let directory: string;
let mongod: ServerProcess;
let address: string;
/** As the administrator. */
let admin: MongoClient;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
  const keyFile = join(directory, 'key');
  await writeFile(keyFile, 'theKeyOfThisReplicaSet', { mode: 0o600 });
  const port = await freePort();
  address = `127.0.0.1:${port}`;
  const binary = await serverBinary('mongod', () => {});
  const options = { binary, dataDir: directory, port, args: [...testMongodArgs, '--keyFile', keyFile] };
  mongod = await startServer(
    'mongod',
    mongodCommand(options),
    { port, url: `mongodb://${address}/` },
    firstUser,
  );
  admin = new MongoClient(urlOf('admin', 'password-of-admin'));
  await setUp();
});
afterAll(async () => {
  await admin?.close();
  await mongod?.kill();
  await rm(directory, { recursive: true, force: true });
});

/** A new member lets a nameless client on the same machine begin the set and make the first user, and nothing more. */
async function firstUser(): Promise<void> {
  const client = new MongoClient(`mongodb://${address}/?directConnection=true`, {
    serverSelectionTimeoutMS: 1_000,
  });
  try {
    const db = client.db('admin');
    const { setName, isWritablePrimary } = await db.command({ hello: 1 });
    const members = [{ _id: 0, host: address }];
    if (setName === undefined) await db.command({ replSetInitiate: { _id: 'plantstore', members } });
    if (isWritablePrimary !== true) throw new Error('it is not primary yet');
    await db.command({ createUser: 'admin', pwd: 'password-of-admin', roles: ['root'] });
  } finally {
    await client.close();
  }
}

function urlOf(user: string, password: string): string {
  return `mongodb://${user}:${password}@${address}/plantstore?replicaSet=plantstore&authSource=admin`;
}

/** The program that compose runs, as a process. */
function setUp(changed: Partial<typeof passwords> = {}) {
  const { api, worker, ops, commands } = { ...passwords, ...changed };
  return execa('node', ['deploy/mongodb/setup.ts'], {
    cwd: root,
    env: {
      MONGODB_ADMIN_URL: urlOf('admin', 'password-of-admin'),
      MONGODB_API_PASSWORD: api,
      MONGODB_WORKER_PASSWORD: worker,
      MONGODB_OPS_PASSWORD: ops,
      MONGODB_COMMANDS_PASSWORD: commands,
    },
  });
}

async function as<T>(service: Service, ask: (db: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(urlOf(`plantstore-${service}`, passwords[service]));
  try {
    return await ask(client.db());
  } finally {
    await client.close();
  }
}

async function startServices(): Promise<AsyncDisposable & { url: string; opsUrl: string }> {
  const stack = new AsyncDisposableStack();
  const start = async (service: Exclude<Service, 'commands'>, environment: Record<string, string> = {}) => {
    const program = await startProgram(service, {
      MONGODB_URL: urlOf(`plantstore-${service}`, passwords[service]),
      REDIS_URL: queue.url,
      QUEUE_PREFIX: queue.prefix,
      ...environment,
    });
    return stack.use(program).url;
  };
  const url = await start('api', { AUTH_SECRET: TEST_SECRET, PORT: '0', DRAIN_MS: '0' });
  await start('worker');
  const opsUrl = await start('ops', { OPS_PORT: '0', OPS_USERS: await opsUsers(olga) });
  return { url, opsUrl, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('with an account for each service, and nothing else', () => {
  test('a plant is stored, indexed and audited, and the console shows it', async () => {
    await using running = await startServices();
    expect((await postPlant(running.url, { id: 1n, name: 'fern' })).status).toBe(200);
    const db = admin.db('plantstore');
    await waitFor(
      async () => (await db.collection('plants').countDocuments({ pending: { $exists: false } })) === 1,
      {
        withinMs: 60_000,
        what: 'the plant is processed',
      },
    );
    expect(await db.collection('plant_search').countDocuments()).toBe(1);
    expect(await db.collection('audit_blocks').countDocuments()).toBe(1);
    const visitor = await signedIn({ url: running.opsUrl }, olga);
    expect((await visitor.see('/')).status).toBe(200);
    expect(await as('ops', (db) => createDatabaseReader(db)([]))).toMatchObject({
      plants: 1,
      searchable: 1,
      backlog: { plants: 0 },
      chains: [{ entries: 1 }],
      missingIndexes: [],
      diskUsed: expect.any(Number),
    });
  });

  test("operators' commands repair, reindex and verify with an account of their own, which the console's cannot", async () => {
    await using running = await startServices();
    const db = admin.db('plantstore');
    const isProcessed = async () =>
      (await db.collection('plants').countDocuments({ pending: { $exists: true } })) === 0;
    const processed = () => waitFor(isProcessed, { withinMs: 60_000, what: 'all plants are processed' });
    for (const id of [2n, 3n]) expect((await postPlant(running.url, { id, name: 'moss' })).status).toBe(200);
    await processed();
    await db.collection<{ _id: bigint }>('plant_search').deleteOne({ _id: 2n });

    expect(await command('reconcile', '--fix')).toMatchObject({ code: 0, err: '' });
    await processed();
    expect(await command('reconcile')).toMatchObject({ code: 0, err: '' });
    expect(await command('reindex')).toMatchObject({ code: 0, err: '' });
    expect(await command('search', 'moss')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^[23] .*\n[23] /m),
    });
    expect(await command('plant', '2')).toMatchObject({ code: 0, out: expect.stringContaining('moss') });
    expect(await command('audit', 'verify')).toMatchObject({
      code: 0,
      out: expect.stringContaining('verified'),
    });
    expect(await commandAs('ops', 'reindex')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^ops: [^\n]*not authorized[^\n]*\n$/),
    });
  });

  const command = (...args: string[]) => commandAs('commands', ...args);

  /** Runs an operator's command as `npm run ops` does. */
  async function commandAs(service: Service, ...args: string[]) {
    const { exitCode, stdout, stderr } = await execa('node', ['services/ops/src/commands/main.ts', ...args], {
      cwd: root,
      env: {
        MONGODB_URL: urlOf(`plantstore-${service}`, passwords[service]),
        REDIS_URL: queue.url,
        QUEUE_PREFIX: queue.prefix,
      },
      reject: false,
      stripFinalNewline: false,
    });
    return { code: exitCode, out: stdout, err: stderr };
  }

  test.each(services)('%s may do what its role names, and nothing else', async (service) => {
    const { authInfo } = await as(service, (db) => db.command({ connectionStatus: 1, showPrivileges: true }));
    const privileges: { resource: { db: string; collection: string }; actions: string[] }[] =
      authInfo.authenticatedUserPrivileges;
    const inOrder = (actions: readonly string[]) => [...actions].sort();
    expect(
      Object.fromEntries(
        privileges.map(({ resource, actions }) => [
          `${resource.db}.${resource.collection}`,
          inOrder(actions),
        ]),
      ),
    ).toEqual(
      Object.fromEntries(
        Object.entries(accounts[`plantstore-${service}`] ?? {}).map(([collection, actions]) => [
          `plantstore.${collection}`,
          inOrder(actions),
        ]),
      ),
    );
  });

  test('the API neither changes nor deletes plants, and sees nothing else', async () => {
    await as('api', async (db) => {
      expect(await refusals(db, changes('plants'))).toEqual(allRefused('plants'));
      for (const collection of ['plant_search', 'audit_blocks'])
        await expect(db.collection(collection).findOne()).rejects.toMatchObject({ code: UNAUTHORIZED });
    });
  });

  test('ops quarantines a plant and deletes none', async () => {
    const plants = admin.db('plantstore').collection<{ _id: bigint }>('plants');
    await plants.insertOne({ _id: 9_002n, name: 5, commit: new ObjectId(), pending: true } as never);
    await using running = await startServices();
    const olga = await signedIn({ url: running.opsUrl }, { name: 'olga', password: 'password-of-olga' });
    await waitFor(
      async () => (await (await olga.see('/failures')).text()).includes('name must be a string'),
      {
        withinMs: 30_000,
        what: 'the plant is listed',
      },
    );
    // Answered 503 as long as the console does not know that the indexes of the audit log exist.
    const act = (control: string) =>
      waitFor(
        async () => {
          const answer = await olga.call(`/controls/${control}`, {
            method: 'POST',
            body: new URLSearchParams({ plant: '9002', reason: 'by its account' }),
          });
          if (answer.status === 303) return true;
          throw new Error(`${answer.status} ${await answer.text()}`);
        },
        { withinMs: 10_000, what: `the console does ${control}` },
      );
    await act('quarantine');
    expect(await plants.findOne({ _id: 9_002n })).toMatchObject({ pending: 'quarantined' });
    await act('release');
    expect(await plants.findOne({ _id: 9_002n })).toMatchObject({ pending: true });
    await as('ops', async (db) => {
      const { findAndRemove, delete: remove, drop, upsert, expire } = changes('plants');
      const attempts = { findAndRemove, remove, drop, upsert, expire } as ReturnType<typeof changes>;
      expect(Object.values(await refusals(db, attempts))).toEqual(Array(5).fill(UNAUTHORIZED));
    });
    await plants.deleteOne({ _id: 9_002n });
  });

  test.each(services)('%s can neither change nor delete an audit block', async (service) => {
    const blocks = admin.db('plantstore').collection('audit_blocks');
    const before = await blocks.find().toArray();
    expect(before).not.toEqual([]);
    expect(await as(service, (db) => refusals(db, changes('audit_blocks')))).toEqual(
      allRefused('audit_blocks'),
    );
    expect(await blocks.find().toArray()).toEqual(before);
    expect(await blocks.indexes()).toHaveLength(
      1 + auditIndexes.filter(({ collection }) => collection === 'audit_blocks').length,
    );
  });

  test('the worker waits for an index that is missing, says which, and goes on once the setup has made it', async () => {
    const blocks = admin.db('plantstore').collection('audit_blocks');
    await blocks.dropIndex('event');
    const failures: string[] = [];
    const waiting = as('worker', (db) =>
      ensureIndexes(db, auditIndexes, (error) => failures.push(String(error)), new AbortController().signal),
    );
    await waitFor(() => failures.length > 0, { withinMs: 30_000, what: 'it says what is missing' });
    expect(failures[0]).toContain(
      'index event of audit_blocks is missing, and this account may not create it',
    );
    await setUp();
    await waiting;
    expect(await blocks.indexExists('event')).toBe(true);
  });

  test('the setup may be repeated: it changes passwords, and drops the account that all services shared', async () => {
    const users = admin.db('admin');
    await users.command({
      createUser: 'plantstore',
      pwd: 'password-of-all',
      roles: [{ role: 'readWrite', db: 'plantstore' }],
    });
    const before = passwords.api;
    await setUp({ api: 'another-password' });
    await expect(as('api', (db) => db.collection('plants').findOne())).rejects.toThrow(
      'Authentication failed',
    );
    passwords.api = 'another-password';
    expect(await as('api', (db) => db.collection('plants').findOne())).toMatchObject({ name: 'fern' });
    expect((await users.command({ usersInfo: 'plantstore' }))['users']).toEqual([]);
    passwords.api = before;
    await setUp();
  });
});

/** Every way to change or delete what a collection holds that MongoDB offers. */
function changes(collection: string): Record<string, (db: Db) => Promise<unknown>> {
  const to = (db: Db) => db.collection(collection);
  const other = collection === 'plants' ? 'audit_blocks' : 'plants';
  return {
    update: (db) => to(db).updateMany({}, { $set: { changed: true } }),
    pipeline: (db) => to(db).updateMany({}, [{ $unset: 'entries' }]),
    upsert: (db) => to(db).updateOne({ name: 'new' }, { $set: { changed: true } }, { upsert: true }),
    replace: (db) => to(db).replaceOne({}, {}),
    findAndModify: (db) => to(db).findOneAndUpdate({}, { $set: { changed: true } }),
    findAndRemove: (db) => to(db).findOneAndDelete({}),
    delete: (db) => to(db).deleteMany({}),
    drop: (db) => to(db).drop(),
    dropDatabase: (db) => db.dropDatabase(),
    rename: (db) => to(db).rename('away'),
    replaceByRename: (db) => db.collection(other).rename(collection, { dropTarget: true }),
    expire: (db) => to(db).createIndex({ time: 1 }, { expireAfterSeconds: 0 }),
    dropIndexes: (db) => db.command({ dropIndexes: collection, index: '*' }),
    modify: (db) => db.command({ collMod: collection, validationAction: 'warn' }),
    cap: (db) => db.command({ convertToCapped: collection, size: 4_096 }),
    out: (db) => db.aggregate([{ $documents: [{ a: 1 }] }, { $out: collection }]).toArray(),
    merge: (db) =>
      db
        .aggregate([{ $documents: [{ _id: 1 }] }, { $merge: { into: collection, whenMatched: 'replace' } }])
        .toArray(),
    grant: (db) => db.admin().command({ grantRolesToUser: 'plantstore-api', roles: ['root'] }),
    extend: (db) =>
      db.admin().command({
        grantPrivilegesToRole: 'plantstore-api',
        privileges: [{ resource: { db: 'plantstore', collection }, actions: ['remove'] }],
      }),
  };
}

async function refusals(db: Db, attempts: ReturnType<typeof changes>): Promise<Record<string, unknown>> {
  const outcomes: Record<string, unknown> = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    outcomes[name] = await attempt(db).then(
      () => 'done',
      (error) => error.code ?? String(error),
    );
  }
  return outcomes;
}

const allRefused = (collection: string) =>
  Object.fromEntries(Object.keys(changes(collection)).map((name) => [name, UNAUTHORIZED]));
