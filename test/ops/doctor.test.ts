import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Check } from '../../services/ops/src/doctor/check.ts';
import { nodeVersion } from '../../services/ops/src/doctor/configuration-checks.ts';
import { mongodbVersion } from '../../services/ops/src/doctor/mongodb-checks.ts';
import { persistence, redisVersion } from '../../services/ops/src/doctor/redis-checks.ts';
import { statusChecks } from '../../services/ops/src/doctor/status-checks.ts';
import {
  healthyDatabase,
  healthyStatus,
  healthyWorker,
} from '../../services/ops/src/status/healthy-status.ts';
import { anchorKey } from '../audit/ledger-under-test.ts';
import { opsCommand } from '../harness/processes/ops-command.ts';
import { takesJobs } from '../harness/processes/takes-jobs.ts';
import { type PrivateServer, privateRedis, privateReplicaSet } from '../harness/servers/private-servers.ts';
import { testDatabase } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { openSystem, type WorkerSystem } from '../worker/worker-under-test.ts';

const database = testDatabase();
const key = anchorKey();
let redis: PrivateServer;
let system: WorkerSystem;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
  redis = await privateRedis();
  system = openSystem(database.url, redis.url, '{doctor}');
  // The next anchor is due in an hour, so that none is made while a test lets them be late.
  const anchoring = { AUDIT_ANCHOR_KEY: key.pem.privateKey, AUDIT_ANCHOR_INTERVAL_MS: '3600000' };
  await system.start({ ...anchoring, INSTANCE: 'worker-1' });
  await waitFor(
    async () =>
      (await system.database.collection('audit_anchors').countDocuments()) > 0 &&
      (await takesJobs(system.redis, 'worker-1')),
    { withinMs: 15_000, what: 'the worker works' },
  );
});
afterAll(async () => {
  await system?.close();
  await redis?.close();
  await rm(directory, { recursive: true, force: true });
});

async function doctor(environment: Record<string, string> = system.environment) {
  const ran = await opsCommand(['doctor', '--json'], environment);
  const { ok, checks } = JSON.parse(ran.out) as { ok: boolean; checks: Check[] };
  const wrong = checks.filter(({ level }) => level === 'warn' || level === 'bad');
  return { code: ran.code, ok, checks, wrong };
}

test('a healthy system is well, exit code 0, and no password is printed', async () => {
  // What a busy machine answers late is no fault that lasts.
  const ran = await waitFor(
    async () => {
      const answer = await opsCommand(['doctor'], system.environment);
      expect(answer).toMatchObject({ code: 0, err: '' });
      return answer;
    },
    { withinMs: 20_000, what: 'doctor finds it well' },
  );
  expect(ran.out).toMatch(/all is well\n$/);
  for (const name of [
    'Node',
    'MongoDB',
    'replica set',
    'indexes',
    'Redis policy',
    'Redis persistence',
    'clocks',
    'workers',
    'audit anchors',
  ]) {
    expect(ran.out).toMatch(new RegExp(`^ok +${name} `, 'm'));
  }
});

/** Each fault is caused on the running system, and taken back. */
const faults: [string, () => Promise<() => Promise<unknown>>, string, RegExp][] = [
  [
    'a policy that evicts jobs',
    async () => {
      await admin('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      return () => admin('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    },
    'Redis policy',
    /maxmemory-policy is allkeys-lru.*noeviction/,
  ],
  [
    'no append-only file',
    async () => {
      await admin('CONFIG', 'SET', 'appendonly', 'no');
      return () => admin('CONFIG', 'SET', 'appendonly', 'yes');
    },
    'Redis persistence',
    /append-only file is off.*appendonly yes/,
  ],
  [
    'a missing index',
    async () => {
      await system.database.collection('audit_blocks').dropIndex('subject');
      return () =>
        system.database
          .collection('audit_blocks')
          .createIndex({ 'entries.who.sub': 1, time: -1, _id: 1 }, { name: 'subject' });
    },
    'indexes',
    /audit_blocks\.subject.*Restart a worker/,
  ],
  [
    'anchors that are late',
    async () => {
      const anchors = system.database.collection('audit_anchors');
      const kept = await anchors.find().toArray();
      await anchors.updateMany({}, { $set: { time: new Date(Date.now() - 600_000).toISOString() } });
      return async () => {
        for (const { _id, ...anchor } of kept) await anchors.replaceOne({ _id }, anchor);
      };
    },
    'audit anchors',
    /no new anchor/,
  ],
  [
    'a paused queue',
    async () => {
      await system.queue.pause();
      return () => system.queue.resume();
    },
    'queue',
    /The queue is paused.*Resume/,
  ],
];

test.each(faults)('%s is found, with what to mend, and exit code 1', async (_fault, cause, name, words) => {
  const undo = await cause();
  try {
    const { code, ok, wrong } = await doctor();
    expect({ code, ok }).toEqual({ code: 1, ok: false });
    const told = wrong.find((check) => check.name === name);
    expect(`${told?.found} ${told?.mend}`).toMatch(words);
  } finally {
    await undo();
  }
});

async function admin(command: string, ...args: string[]): Promise<void> {
  const client = new Redis(redis.url);
  try {
    await client.call(command, ...args);
  } finally {
    client.disconnect();
  }
}

test('servers that do not answer are named, what cannot be looked at is skipped, and no secret is printed', async () => {
  const ran = await opsCommand(['doctor', '--json'], {
    MONGODB_URL: 'mongodb://ops:hush-mongo@127.0.0.1:1/plants',
    REDIS_URL: 'redis://:hush-redis@127.0.0.1:1',
  });
  expect(ran.code).toBe(1);
  const { checks } = JSON.parse(ran.out) as { checks: Check[] };
  const level = (name: string) => checks.find((check) => check.name === name)?.level;
  expect([level('MongoDB answers'), level('Redis answers'), level('indexes')]).toEqual([
    'bad',
    'warn',
    'skipped',
  ]);
  expect(ran.out + ran.err).not.toContain('hush');
});

test('settings that contradict one another are named without their values', async () => {
  const direct = new URL(database.url);
  direct.searchParams.set('directConnection', 'true');
  const { code, wrong } = await doctor({
    ...system.environment,
    MONGODB_URL: direct.href,
    OPS_USERS: 'olga:operator:short',
  });
  expect(code).toBe(1);
  const configuration = wrong.filter(({ name }) => name === 'configuration').map(({ found }) => found);
  expect(configuration).toEqual([
    expect.stringContaining('directConnection=true'),
    expect.stringContaining('OPS_USERS entry 1: the password must not stand there in clear'),
  ]);
  expect(JSON.stringify(wrong)).not.toContain('short');
});

test('without any address it says what to do, exit code 2', async () => {
  const ran = await opsCommand(['doctor'], { DATA_DIR: directory });
  expect(ran).toMatchObject({
    code: 2,
    err: expect.stringContaining('"npm start" first, or set MONGODB_URL'),
  });
});

test('of a local system, processes that ended, ports that nobody serves and files that others may read are found', async () => {
  const run = {
    url: 'http://127.0.0.1:1',
    ops: { url: 'http://127.0.0.1:1', users: [] },
    mongodb: database.url,
    redis: redis.url,
    processes: [
      { name: 'mongod', pid: 2 ** 22 + 1 },
      { name: 'worker-1', pid: process.pid, url: 'http://127.0.0.1:1' },
    ],
  };
  const file = join(directory, 'run.json');
  await writeFile(file, JSON.stringify(run));
  await chmod(file, 0o644);
  await writeFile(join(directory, 'ops-hashes.json'), '{}', { mode: 0o644 });
  try {
    const { code, wrong } = await doctor({
      DATA_DIR: directory,
      QUEUE_PREFIX: '{doctor}',
      // `npm start` takes passwords in clear: no fault.
      OPS_USERS: 'olga:operator:twelve-chars-and-more',
    });
    expect(code).toBe(1);
    expect(wrong.map(({ name, found }) => `${name}: ${found}`)).toEqual([
      expect.stringContaining('configuration: others on this machine may read run.json, ops-hashes.json in'),
      expect.stringMatching(/^processes: mongod \(process \d+\) does not run/),
      expect.stringMatching(/^processes: worker-1 \(process \d+\) does not answer/),
      expect.stringContaining('public port: nothing answers'),
      expect.stringContaining('console port: nothing answers'),
    ]);
  } finally {
    await rm(file);
  }
});

test('a member of the replica set that is down is named', async () => {
  await using set = await privateReplicaSet();
  await set.members[2]?.kill();
  await waitFor(
    async () => {
      const { wrong } = await doctor({ ...system.environment, MONGODB_URL: set.url });
      return wrong.some(({ name, found }) => name === 'replica set' && found.includes('2 of 3 members work'));
    },
    { withinMs: 30_000, what: 'the member is named' },
  );
});

describe('what no test can cause on a real server', () => {
  const wrongOf = (checks: readonly Check[]) =>
    checks.filter(({ level }) => level === 'warn' || level === 'bad');
  const database = { ...healthyDatabase, anchorAgeMs: 1_000 };
  const healthy = { ...healthyStatus, database };

  test('a disk that fills up', () => {
    const [check] = wrongOf(statusChecks({ ...healthy, database: { ...database, diskUsed: 0.97 } }));
    expect(check).toMatchObject({
      name: 'disk of MongoDB',
      level: 'bad',
      found: expect.stringContaining('97 % full'),
    });
  });

  test('clocks that differ', () => {
    const [check] = wrongOf(statusChecks({ ...healthy, clocks: [{ server: 'MongoDB', aheadMs: -9_000 }] }));
    expect(check).toMatchObject({ name: 'clocks', mend: expect.stringContaining('chrony') });
  });

  test('no anchor at all, and a worker of another version', () => {
    const queue = { ...healthyStatus.queue, workers: [{ ...healthyWorker, version: '0.9.0' }] };
    const wrong = wrongOf(statusChecks({ ...healthyStatus, queue: queue as typeof healthyStatus.queue }));
    expect(wrong.map(({ name }) => name)).toEqual(['audit anchors', 'versions']);
  });

  test('versions that are not supported', () => {
    expect(
      [nodeVersion('22.9.0'), mongodbVersion('5.0.1'), redisVersion('6.0.16')].map(({ level }) => level),
    ).toEqual(['bad', 'bad', 'bad']);
    expect(
      [nodeVersion('24.12.0'), mongodbVersion('7.0.1'), redisVersion('7.2.4')].map(({ level }) => level),
    ).toEqual(['good', 'good', 'good']);
  });

  test('a Redis that cannot write to its disk, or is a replica', () => {
    const facts = new Map([
      ['role', 'slave'],
      ['aof_last_write_status', 'err'],
    ]);
    expect(persistence(facts).map(({ level }) => level)).toEqual(['bad', 'bad']);
  });
});
