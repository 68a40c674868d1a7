import { hostname, userInfo } from 'node:os';
import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import { expect, test } from 'vitest';
import { opsCommand } from '../harness/processes/ops-command.ts';
import { waitFor } from '../harness/wait-for.ts';
import { untilProcessed } from '../worker/processed.ts';
import { untilNoJobIsLeft } from '../worker/queue-states.ts';
import { storeCommit } from '../worker/stored-plants.ts';
import { workerUnderTest } from '../worker/worker-under-test.ts';

const system = workerUnderTest();
const { database, environment, plants, publish, queue, start } = system;
const ops = (...args: string[]) => opsCommand(args, environment);

async function audited(): Promise<OperatorEntry | undefined> {
  const blocks = database.collection<{ entries: OperatorEntry[] }>('audit_blocks');
  const [newest] = await blocks.find({ chain: 64 }).sort({ height: -1 }).limit(1).toArray();
  return newest?.entries.at(-1);
}

test('without a terminal and without --yes a command says what it would do, and does nothing', async () => {
  const ran = await ops('pause', '--minutes', '5', '--reason', 'index rebuild');
  expect(ran).toMatchObject({ code: 2, out: expect.stringContaining('Workers take no further job for 5') });
  expect(ran.err).toContain('add --yes');
  expect(await queue.isPaused()).toBe(false);
  expect(await audited()).toBeUndefined();
});

test('pause and resume are the controls of the console, and audited with the person at the machine', async () => {
  expect(await ops('pause', '--minutes', '5', '--reason', 'index rebuild', '--yes')).toMatchObject({
    code: 0,
  });
  expect(await queue.isPaused()).toBe(true);
  expect(await audited()).toMatchObject({
    action: 'paused',
    outcome: 'done',
    target: 'plant-creations',
    reason: 'index rebuild',
    before: 'running',
    after: expect.stringMatching(/^paused until /),
    who: { sub: userInfo().username },
    from: { address: 'command line', instance: hostname() },
  });
  const resumed = await ops('resume', '--reason', 'it is built', '--yes', '--json');
  expect(JSON.parse(resumed.out)).toMatchObject({ action: 'resumed', after: 'running' });
  expect(await queue.isPaused()).toBe(false);
});

test('a plant that cannot be processed is quarantined, released and retried', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 3);
  const id = stored[0]?._id as bigint;
  await plants.updateOne({ _id: id }, { $set: { name: 5 as never } });
  await publish(commit, 3);
  await start({ RELAY_AGE_MS: '30000' });
  const failed = () =>
    waitFor(async () => (await queue.getFailedCount()) === 1, { withinMs: 10_000, what: 'the job failed' });
  await failed();

  const set = await ops('quarantine', '--plant', `${id}`, '--reason', 'no name', '--yes');
  expect(set).toMatchObject({ code: 0, out: expect.stringContaining(`Plant ${id} is set aside`) });
  expect(await plants.findOne({ _id: id })).toMatchObject({ pending: 'quarantined' });
  await untilNoJobIsLeft(system);

  await ops('release', '--matching', 'no name', '--reason', 'try again', '--yes');
  await failed();
  await plants.updateOne({ _id: id }, { $set: { name: 'mended' } });
  const retried = await ops('retry', '--plant', `${id}`, '--reason', 'mended', '--yes');
  expect(retried.out).toContain('1 failed job that names the commit of plant');
  await untilProcessed(database);
  expect(await audited()).toMatchObject({ action: 'retried', target: `plant ${id}`, affected: 1 });
});

test.each([
  [['pause'], "required option '--reason <text>' not specified"],
  [['pause', '--reason', 'x', '--minutes', '0'], 'whole number from 1 to 1440'],
  [['quarantine', '--reason', 'x'], 'name a plant with --plant'],
  [['release', '--plant', '1.5', '--reason', 'x'], 'An id is a whole number'],
  [['resume', '--reason', ' ', '--yes'], 'Give a reason'],
])('the mistake %j gets one clear line and exit code 2', async (args, message) => {
  const ran = await ops(...args);
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(/^ops: [^\n]+\n$/);
  expect(ran.err).toContain(message);
});

test('a command that finds no Redis says so, does nothing, and the refusal is audited', async () => {
  const away = { ...environment, REDIS_URL: 'redis://127.0.0.1:1' };
  const ran = await opsCommand(['pause', '--reason', 'outage', '--yes'], away);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('Redis is unreachable') });
  expect(await audited()).toMatchObject({
    action: 'pause',
    outcome: 'refused',
    reason: 'outage',
    before: expect.stringContaining('Redis is unreachable'),
  });
});

test('reindex and reconcile --fix are operators’ actions: each is audited with its reason and how many', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 4);
  await publish(commit, 4);
  await start();
  await untilProcessed(database);
  expect(await ops('reindex', '--reason', 'new words')).toMatchObject({ code: 0 });
  expect(await audited()).toMatchObject({
    action: 'reindexed',
    reason: 'new words',
    affected: 4,
    target: 'plant_search',
  });

  await database.collection('plant_search').deleteOne({ _id: stored[0]?._id as never });
  expect(await ops('reconcile', '--fix', '--reason', 'one was lost')).toMatchObject({ code: 0 });
  expect(await audited()).toMatchObject({
    action: 'reconciled',
    reason: 'one was lost',
    affected: 1,
    target: 'plants',
  });
  await untilProcessed(database);
});
