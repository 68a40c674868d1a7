import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readQueueStatus } from '../../../packages/platform/src/redis/queue-status.ts';
import { createRedis, workerConnection } from '../../../packages/platform/src/redis/redis.ts';
import { bullmqCreationWorker } from '../../../services/worker/src/jobs/bullmq-creation-worker.ts';
import { keepWorking } from '../../../services/worker/src/jobs/keep-working.ts';
import { type PrivateServer, privateRedis } from '../../harness/servers/private-servers.ts';
import { testDatabase } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { storeCommit } from '../stored-plants.ts';
import { openSystem, type WorkerSystem } from '../worker-under-test.ts';

const target = testDatabase();
const PREFIX = '{redis-faults}';
let server: PrivateServer;
let system: WorkerSystem;

beforeAll(async () => {
  server = await privateRedis();
  system = openSystem(target.url, server.url, PREFIX);
});
afterEach(async () => {
  await system.stopWorkers();
  await system.empty();
});
afterAll(async () => {
  await system?.close();
  await server?.close();
});

async function storeAndPublish(commits: number, plants: number): Promise<void> {
  for (let index = 0; index < commits; index++) {
    const { commit } = await storeCommit(system.plants, plants);
    await system.publish(commit, plants).catch(() => {});
  }
}

test('Redis full of waiting jobs neither stops the worker nor spins it: jobs are dropped and published again', async () => {
  await storeAndPublish(150, 3);
  const used = Number(/used_memory:(\d+)/.exec(await system.redis.info('memory'))?.[1]);
  await system.redis.config('SET', 'maxmemory', String(used - 20_000));
  try {
    const worker = await system.start();
    await waitFor(async () => (await worker.metric('plants_queue_dropped_total')) > 0, {
      withinMs: 15_000,
      what: 'waiting jobs were dropped',
    });
    await system.redis.config('SET', 'maxmemory', String(used + 5_000_000));
    await untilProcessed(system.database, { withinMs: 30_000 });
    await expectProcessed(system.database);
    expect(await worker.metric('plants_queue_errors_total')).toBeLessThan(100);
  } finally {
    await system.redis.config('SET', 'maxmemory', '0');
  }
});

test('Redis that evicts jobs, lists and all under pressure: nothing is lost', async () => {
  await storeAndPublish(50, 3);
  const used = Number(/used_memory:(\d+)/.exec(await system.redis.info('memory'))?.[1]);
  await system.redis.config('SET', 'maxmemory-policy', 'allkeys-random');
  await system.redis.config('SET', 'maxmemory', String(used + 20_000));
  try {
    await storeAndPublish(200, 3);
    expect(Number(/evicted_keys:(\d+)/.exec(await system.redis.info('stats'))?.[1])).toBeGreaterThan(0);
    await system.start();
    await storeAndPublish(50, 3);
  } finally {
    await system.redis.config('SET', 'maxmemory', '0');
    await system.redis.config('SET', 'maxmemory-policy', 'noeviction');
  }
  await untilProcessed(system.database, { withinMs: 30_000 });
  await expectProcessed(system.database);
});

test('Redis turned replica, which refuses all writes, and back: the worker goes on by itself', async () => {
  const worker = await system.start();
  await storeAndPublish(1, 1);
  await untilProcessed(system.database);
  await system.redis.replicaof('127.0.0.1', 1);
  try {
    await storeAndPublish(20, 3);
    await waitFor(async () => (await worker.metric('plants_relay_errors_total')) > 0, {
      withinMs: 15_000,
      what: 'the relay was refused',
    });
  } finally {
    await system.redis.replicaof('NO', 'ONE');
  }
  await untilProcessed(system.database, { withinMs: 30_000 });
  await expectProcessed(system.database);
  expect(await worker.metric('plants_queue_errors_total')).toBeLessThan(100);
});

test('all connections to Redis cut again and again: nothing is lost or done twice', async () => {
  await system.start();
  for (let round = 0; round < 10; round++) {
    await storeAndPublish(10, 3);
    await system.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  }
  await untilProcessed(system.database, { withinMs: 30_000 });
  await expectProcessed(system.database);
});

test('Redis killed and restarted under load: nothing is lost', async () => {
  await Promise.all([system.start(), system.start()]);
  await storeAndPublish(100, 5);
  await server.kill();
  await storeCommit(system.plants, 5);
  await server.start();
  await storeAndPublish(20, 5);
  await untilProcessed(system.database, { withinMs: 30_000 });
  await expectProcessed(system.database);
});

test('a worker that stays idle while jobs wait is replaced by one that takes them', async () => {
  const { redis, queue } = system;
  for (const commit of ['a', 'b', 'c']) await system.publish(commit.repeat(24));
  // The replacement has to have taken a job before it counts as stuck, on a busy machine, too.
  const STUCK_MS = 5_000;
  const taken: string[] = [];
  const stuck: number[] = [];
  let started = 0;
  const worker = keepWorking({
    // The first one listens where no job ever comes: as silent as one whose blocking read is stuck.
    startWorker: () =>
      bullmqCreationWorker({
        name: 'worker-1',
        redis: createRedis(server.url, workerConnection, silent),
        prefix: ++started === 1 ? '{elsewhere}' : PREFIX,
        concurrency: 4,
        process: async ({ id }) => void taken.push(id),
        on: { error: () => {}, stalled: () => {}, foreign: () => {}, full: async () => {} },
      }),
    queueStatus: () => readQueueStatus(queue),
    now: () => performance.now(),
    on: { queueSeen: () => {}, stuck: (idleMs) => stuck.push(idleMs) },
    watchMs: 50,
    stuckMs: STUCK_MS,
  });
  try {
    await waitFor(() => taken.length === 3, { withinMs: 15_000, what: 'the jobs are taken' });
    expect(stuck).toEqual([expect.any(Number)]);
    expect(stuck[0]).toBeGreaterThanOrEqual(STUCK_MS);
    expect(started).toBe(2);
  } finally {
    await worker.close();
    expect(redis.status).toBe('ready');
  }
});

test('settings that let Redis drop jobs are reported at the start, and nothing else changes', async () => {
  await system.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await system.redis.config('SET', 'appendonly', 'no');
  try {
    const worker = await system.start();
    const faults = () => worker.log.filter(({ msg }) => msg === 'redis may drop waiting jobs');
    await waitFor(() => faults().length === 2, { withinMs: 10_000, what: 'both faults are logged' });
    await storeAndPublish(2, 2);
    await untilProcessed(system.database);
  } finally {
    await system.redis.config('SET', 'maxmemory-policy', 'noeviction');
    await system.redis.config('SET', 'appendonly', 'yes');
  }
});

const silent = { info: () => {}, warn: () => {} } as unknown as Parameters<typeof createRedis>[2];
