import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import { creationJob } from '@plant-store/contracts/creation-job';
import { AUDIT_ANCHORS, AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createOperatorAudit } from '../../services/ops/src/controls/operator-audit.ts';
import type { StatusWords } from '../../services/ops/src/status/status-words.ts';
import { mongoProxy } from '../harness/network/mongo-proxy.ts';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { openQueue } from './creation-queue.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

const database = testDatabase();
const newDatabase = testDatabase();
const redis = testQueue();
const servers = { MONGODB_URL: database.url, REDIS_URL: redis.url, QUEUE_PREFIX: redis.prefix };
const OPERATORS_CHAIN = 64;

let ops: RunningConsole;
let queue: ReturnType<typeof openQueue>;
let mongo: MongoClient;
let olga: Visitor;
let vera: Visitor;
beforeAll(async () => {
  queue = openQueue(redis);
  mongo = new MongoClient(database.url);
  ops = await startConsole({ ...servers, INSTANCE: 'ops-1' });
  [olga, vera] = [await signedIn(ops, operator), await signedIn(ops, viewer)];
});
afterEach(async () => {
  await queue.queue.obliterate({ force: true });
});
afterAll(async () => {
  await ops?.close();
  await queue?.close();
  await mongo?.close();
});

const act = (visitor: Visitor, control: string, fields: Record<string, string>) =>
  visitor.call(`/controls/${control}`, { method: 'POST', body: new URLSearchParams(fields) });

/** The newest entry of the operators' chain. */
async function audited(): Promise<OperatorEntry> {
  const blocks = mongo.db().collection<{ entries: OperatorEntry[] }>(AUDIT_BLOCKS);
  const [newest] = await blocks.find({ chain: OPERATORS_CHAIN }).sort({ height: -1 }).limit(1).toArray();
  return newest?.entries.at(-1) as OperatorEntry;
}

function waitingJob() {
  const { name, data, opts } = creationJob([{ commit: new ObjectId().toHexString(), plants: 1 }]);
  return queue.queue.add(name, data, opts);
}

test('a pause shows first what it will do, and is audited with who, from where, why, before, after and how many', async () => {
  await waitingJob();
  const page = await (await olga.see('/controls/pause?minutes=30')).text();
  expect(page).toMatch(
    /Workers take no further job for 30\smin 0\ss; 1 wait now|Workers take no further job for 30.min.0.s; 1 wait now/,
  );
  expect(await queue.queue.isPaused()).toBe(false);

  const done = await act(olga, 'pause', { minutes: '30', reason: 'index rebuild' });
  expect([done.status, done.headers.get('location')], await done.text()).toEqual([303, '/controls']);
  expect(await queue.queue.isPaused()).toBe(true);
  const entry = await audited();
  expect(entry).toMatchObject({
    action: 'paused',
    outcome: 'done',
    target: 'plant-creations',
    reason: 'index rebuild',
    before: 'running',
    after: expect.stringMatching(/^paused until \d{4}-/),
    affected: 1,
    who: { sub: operator.name },
    from: { address: '127.0.0.1', instance: 'ops-1', request: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
  expect(entry.event).toHaveProperty('_bsontype', 'ObjectId');

  const paused = await finding('queue-paused');
  expect(paused?.cause).toMatch(/^olga paused it: index rebuild\. It resumes by itself at \d\d:\d\d UTC\.$/);
  expect((await act(olga, 'resume', { reason: 'done' })).status).toBe(303);
  expect(await queue.queue.isPaused()).toBe(false);
  expect(await audited()).toMatchObject({ action: 'resumed', after: 'running' });
});

test('a pause that has reached its end is ended by the console, also by one that started afterwards', async () => {
  await act(olga, 'pause', { minutes: '1', reason: 'short' });
  const key = `${redis.prefix}:pause`;
  const client = queue.connection;
  const record = JSON.parse(String(await client.get(key)));
  await client.set(key, JSON.stringify({ ...record, until: new Date(Date.now() - 1_000) }));
  await waitFor(async () => !(await queue.queue.isPaused()), {
    withinMs: 10_000,
    what: 'the queue runs again',
  });
  await waitFor(async () => (await audited()).who.sub === 'ops', {
    withinMs: 10_000,
    what: 'its end is audited',
  });
  expect(await audited()).toMatchObject({ action: 'resumed', reason: 'the pause of olga reached its end' });
});

test.each(['no JSON', 'null', '{}', '{"by":"x","reason":"r","until":"soon"}'])(
  'a pause whose record in Redis is %s has no end, and can be resumed',
  async (record) => {
    await act(olga, 'pause', { minutes: '30', reason: 'r' });
    await queue.connection.set(`${redis.prefix}:pause`, record);
    await waitFor(async () => (await finding('queue-paused'))?.cause.includes('another tool') === true, {
      withinMs: 10_000,
      what: 'the console reads the record',
    });
    expect((await act(olga, 'resume', { reason: 'done' })).status).toBe(303);
    expect(await queue.queue.isPaused()).toBe(false);
    expect(await audited()).toMatchObject({ action: 'resumed', before: 'paused without end' });
  },
);

test('failed jobs are retried by reason, with the count first', async () => {
  const job = await queue.failedJob('a'.repeat(24));
  const none = await (await olga.see('/controls/retry?matching=other')).text();
  expect(none).toContain('0 failed jobs whose reason contains “other”');
  expect(await (await olga.see('/controls/retry')).text()).toContain('1 failed job is taken again');
  await act(olga, 'retry', { reason: 'try once more', matching: 'shelf' });
  expect(await job.getState()).toBe('waiting');
  expect(await audited()).toMatchObject({ action: 'retried', affected: 1, before: 'failed: shelf' });
});

test('waiting jobs are dropped, and how many is audited', async () => {
  await waitingJob();
  await waitingJob();
  expect(await (await olga.see('/controls/drop')).text()).toContain('2 waiting jobs are removed');
  await act(olga, 'drop', { reason: 'Redis is nearly full' });
  expect(await queue.queue.getWaitingCount()).toBe(0);
  expect(await audited()).toMatchObject({
    action: 'dropped',
    affected: 2,
    before: '2 waiting',
    after: '0 waiting',
  });
});

test('limits that somebody set elsewhere are shown and lifted', async () => {
  await queue.queue.setGlobalConcurrency(3);
  await queue.queue.setGlobalRateLimit(5, 60_000);
  expect(await (await olga.see('/controls/lift-limits')).text()).toContain('concurrency 3, 5 jobs in 1');
  await act(olga, 'lift-limits', { reason: 'nobody needs them' });
  expect(await queue.queue.getGlobalConcurrency()).toBeNull();
  expect(await queue.queue.getGlobalRateLimit()).toBeNull();
  expect(await audited()).toMatchObject({ action: 'limits lifted', affected: 2, after: '' });
});

test.each(['pause', 'resume', 'retry', 'drop', 'lift-limits'])(
  'a viewer sees what %s would do and may not do it, and the attempt is audited',
  async (control) => {
    await waitingJob();
    expect((await vera.see(`/controls/${control}`)).status).toBe(200);
    expect((await act(vera, control, { reason: 'curious' })).status).toBe(403);
    expect(await queue.queue.getWaitingCount()).toBe(1);
    expect(await queue.queue.isPaused()).toBe(false);
    expect(await audited()).toMatchObject({ action: control, outcome: 'refused', who: { sub: viewer.name } });
  },
);

test.each([
  ['without a reason', { reason: ' ' }, 'no reason given'],
  ['for no time', { reason: 'r', minutes: '0' }, 'A pause lasts 1 to 1440 minutes.'],
  ['for ever', { reason: 'r', minutes: '100000' }, 'A pause lasts 1 to 1440 minutes.'],
])('a pause %s is refused, and the refusal is audited with why', async (_what, fields, why) => {
  expect((await act(olga, 'pause', fields)).status).toBe(400);
  expect(await queue.queue.isPaused()).toBe(false);
  expect(await audited()).toMatchObject({
    action: 'pause',
    outcome: 'refused',
    before: why,
    who: { sub: operator.name },
    from: { address: '127.0.0.1' },
  });
});

test('with Redis away an action is refused, and the refusal is audited', async () => {
  const away = await startConsole({ ...servers, REDIS_URL: 'redis://127.0.0.1:1', INSTANCE: 'ops-2' });
  try {
    const operator_ = await signedIn(away, operator);
    await waitFor(
      async () => {
        const answer = await act(operator_, 'pause', { reason: 'while Redis is away' });
        expect(answer.status).toBe(503);
        return (await audited()).from.instance === 'ops-2';
      },
      { withinMs: 10_000, what: 'the refusal is audited once the console has found the indexes' },
    );
    expect(await audited()).toMatchObject({
      action: 'pause',
      outcome: 'refused',
      reason: 'while Redis is away',
      before: expect.stringContaining('Redis is unreachable'),
      from: { instance: 'ops-2' },
    });
  } finally {
    await away.close();
  }
});

test('an action that cannot be audited is refused and not begun', async () => {
  const away = await startConsole({ ...servers, MONGODB_URL: 'mongodb://127.0.0.1:1/plantstore' });
  try {
    const answer = await act(await signedIn(away, operator), 'pause', { reason: 'while MongoDB is away' });
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain('The audit log cannot be written, so nothing was done.');
    expect(await queue.queue.isPaused()).toBe(false);
  } finally {
    await away.close();
  }
});

test('in a new database an action waits until the audit log has its indexes', async () => {
  await using link = await mongoProxy(newDatabase.url);
  const creation = link.hold({ command: 'createIndexes', collection: AUDIT_ANCHORS, at: 'request' });
  await using client = new MongoClient(link.url);
  const logger = { info: () => {}, error: () => {} };
  using audit = createOperatorAudit(client, newDatabase.name, 'ops-3', logger);
  await creation.reached;
  let isChecked = false;
  const checked = audit.check().then(() => {
    isChecked = true;
  });
  for (let read = 0; read < 3; read++) await client.db().command({ ping: 1 });
  expect(isChecked).toBe(false);
  creation.release();
  await checked;
});

test('what was done, and refused, is listed for everyone', async () => {
  await act(olga, 'resume', { reason: 'listed for everyone' });
  const page = await (await vera.see('/controls')).text();
  expect(page).toContain('<td>listed for everyone</td>');
  expect(page).toContain('<td>pause (refused)</td>');
});

test('each action is counted', async () => {
  const before = (await ops.metric('plants_ops_actions_total{action="drop",outcome="done"}')) ?? 0;
  await act(olga, 'drop', { reason: 'counted' });
  expect(await ops.metric('plants_ops_actions_total{action="drop",outcome="done"}')).toBe(before + 1);
});

async function finding(key: string): Promise<StatusWords['findings'][number] | undefined> {
  return waitFor(
    async () => {
      const { findings } = (await (await vera.call('/status')).json()) as StatusWords;
      return findings.find((candidate) => candidate.key === key);
    },
    { withinMs: 15_000, what: `${key} is found` },
  );
}
