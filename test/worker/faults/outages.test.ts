import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Program, startProgram } from '../../harness/processes/program.ts';
import { type PrivateServer, privateMongod, privateRedis } from '../../harness/servers/private-servers.ts';
import { needsServers } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { untilNoJobIsLeft } from '../queue-states.ts';
import { storeCommit } from '../stored-plants.ts';
import { openSystem, type WorkerSystem } from '../worker-under-test.ts';

needsServers();
/** What the product promises after an outage, with room for a busy machine. */
const RECOVERED_MS_MAX = 30_000;
/** A process that is not closed after 10 s exits with 1. */
const EXIT_IN_TIME = 0;

let mongod: PrivateServer;
let redisServer: PrivateServer;
let system: WorkerSystem;
const programs: Program[] = [];

beforeAll(async () => {
  [mongod, redisServer] = await Promise.all([privateMongod(), privateRedis()]);
  const url = new URL(mongod.url);
  url.pathname = '/outages';
  system = openSystem(url.href, redisServer.url, '{outages}');
});
afterEach(async () => {
  await Promise.all(
    programs.splice(0).map(async (program) => {
      program.signal('SIGCONT');
      program.signal('SIGKILL');
      await program.ended;
    }),
  );
  await system.stopWorkers();
  await system.empty();
});
afterAll(async () => {
  await system?.close();
  await Promise.all([mongod?.close(), redisServer?.close()]);
});

async function startProcess(instance: string): Promise<Program> {
  const program = await startProgram('worker', { ...system.environment, INSTANCE: instance });
  programs.push(program);
  return program;
}

async function storeAndPublish(commits: number, plants: number): Promise<void> {
  for (let index = 0; index < commits; index++) {
    const { commit } = await storeCommit(system.plants, plants);
    await system.publish(commit, plants);
  }
}

const readiness = async (internalUrl: string) => (await fetch(`${internalUrl}/readyz`)).status;

test('with Redis down at the start a worker stays up and ready, and works once Redis is there', async () => {
  await redisServer.kill();
  const worker = await system.start();
  await storeCommit(system.plants, 5);
  await waitFor(async () => (await worker.metric('plants_relay_errors_total')) > 1, {
    withinMs: 10_000,
    what: 'the relay has missed Redis',
  });
  expect(await readiness(worker.internalUrl)).toBe(200);
  await redisServer.start();
  await untilProcessed(system.database, { withinMs: RECOVERED_MS_MAX });
  await expectProcessed(system.database);
});

test('with MongoDB down at the start a worker stays up, is not ready, and works once MongoDB is there', async () => {
  await storeAndPublish(3, 5);
  await mongod.kill();
  const worker = await system.start();
  expect(await readiness(worker.internalUrl)).toBe(503);
  await mongod.start();
  await untilProcessed(system.database, { withinMs: RECOVERED_MS_MAX });
  await expectProcessed(system.database);
  expect(await readiness(worker.internalUrl)).toBe(200);
});

test('while MongoDB is down jobs wait for it: none fails, and one line tells of the outage', async () => {
  const worker = await system.start();
  await storeAndPublish(2, 5);
  await untilProcessed(system.database);
  for (let index = 0; index < 100; index++)
    await storeCommit(system.plants, 20).then(({ commit }) => system.publish(commit, 20));
  const outages = () =>
    worker.log.filter(({ msg }) => msg === 'the database does not answer: jobs wait for it').length;
  // A busy machine may have had one of its own; the same goes for the time after mongod's start.
  const before = outages();
  await mongod.kill();
  await waitFor(async () => (await worker.metric('plants_database_away_total')) > 3, {
    withinMs: 20_000,
    what: 'batches have met the outage',
  });
  expect(outages() - before).toBe(1);
  await mongod.start();
  await untilProcessed(system.database, { withinMs: RECOVERED_MS_MAX });
  await expectProcessed(system.database);
  expect(await worker.metric('plants_jobs_total', 'outcome="failed"')).toBe(0);
});

test('a worker killed with jobs in hand, their plants pending: another one takes them over', async () => {
  const first = await startProcess('first');
  await storeAndPublish(1, 1);
  await untilProcessed(system.database, { withinMs: 20_000 });
  const commits = await Promise.all(Array.from({ length: 5 }, () => storeCommit(system.plants, 3)));
  mongod.signal('SIGSTOP');
  for (const { commit } of commits) await system.publish(commit, 3);
  await waitFor(async () => (await system.queue.getActiveCount()) === 5, {
    withinMs: 20_000,
    what: 'the jobs are in hand',
  });
  first.signal('SIGKILL');
  await first.ended;
  mongod.signal('SIGCONT');
  const second = await system.start({ RELAY_AGE_MS: '30000' });
  await untilProcessed(system.database, { withinMs: RECOVERED_MS_MAX });
  await expectProcessed(system.database);
  await untilNoJobIsLeft(system);
  expect(await second.metric('plants_jobs_stalled_total')).toBe(5);
  expect(await second.metric('plants_relay_published_total')).toBe(0);
});

test('a worker stopped for longer than its lock wakes late: the end is the same', async () => {
  const first = await startProcess('first');
  await waitFor(
    async () => {
      await storeAndPublish(50, 20);
      first.signal('SIGSTOP');
      if ((await system.queue.getActiveCount()) > 0) return true;
      first.signal('SIGCONT');
      return false;
    },
    { withinMs: 20_000, what: 'it is stopped with jobs in hand' },
  );
  await system.start();
  await untilProcessed(system.database, { withinMs: RECOVERED_MS_MAX });
  first.signal('SIGCONT');
  await storeAndPublish(10, 20);
  await untilProcessed(system.database, { withinMs: RECOVERED_MS_MAX });
  await expectProcessed(system.database);
});

test('SIGTERM under load: jobs in hand are finished, the others wait for the next worker, exit 0 within 10 s', async () => {
  const program = await startProcess('drained');
  await storeAndPublish(200, 20);
  expect(await program.stop()).toBe(EXIT_IN_TIME);
  expect(await system.queue.getActiveCount()).toBe(0);
  expect(await system.queue.getFailedCount()).toBe(0);
  await system.start();
  await untilProcessed(system.database, { withinMs: RECOVERED_MS_MAX });
  await expectProcessed(system.database);
});

test.each(['Redis', 'MongoDB'])(
  'SIGTERM while %s hangs: exit 0 within 10 s',
  async (which) => {
    const program = await startProcess('drained');
    await storeAndPublish(1, 1);
    await untilProcessed(system.database, { withinMs: 20_000 });
    const server = which === 'Redis' ? redisServer : mongod;
    if (which === 'MongoDB') await publishEmptyCommits(5, () => mongod.signal('SIGSTOP'));
    else server.signal('SIGSTOP');
    try {
      expect(await program.stop()).toBe(EXIT_IN_TIME);
    } finally {
      server.signal('SIGCONT');
    }
  },
  60_000,
);

test('SIGTERM while Redis is down: exit 0 within 10 s', async () => {
  const program = await startProcess('drained');
  await redisServer.kill();
  try {
    expect(await program.stop()).toBe(EXIT_IN_TIME);
  } finally {
    await redisServer.start();
  }
});

/** Publishes commits that have nothing pending, which takes no database. */
async function publishEmptyCommits(commits: number, before = () => {}): Promise<void> {
  before();
  for (let index = 0; index < commits; index++) {
    await system.publish(
      `${Date.now().toString(16).padStart(16, '0')}${index.toString(16).padStart(8, '0')}`,
    );
  }
}
