import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, testQueue } from '../harness/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { openQueue } from './creation-queue.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

const database = testDatabase();
const redis = testQueue();

let ops: RunningConsole;
let queue: ReturnType<typeof openQueue>;
beforeAll(async () => {
  queue = openQueue(redis);
  ops = await startConsole({ MONGODB_URL: database.url, REDIS_URL: redis.url, QUEUE_PREFIX: redis.prefix });
});
afterAll(async () => {
  await ops.close();
  await queue.close();
});

const boardOf = (role: string) => `/board/${role}/api/queues`;
const act = (visitor: Visitor, path: string, method = 'PUT') =>
  visitor.call(path, {
    method,
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
  });

const actions = (id: string) =>
  [
    ['PUT', `/plant-creations/${id}/retry`],
    ['PUT', `/plant-creations/${id}/clean`],
    ['PUT', `/plant-creations/${id}/promote`],
    ['PATCH', `/plant-creations/${id}/update-data`],
    ['PUT', '/plant-creations/retry/failed'],
    ['PUT', '/plant-creations/clean/failed'],
    ['PUT', '/plant-creations/pause'],
    ['PUT', '/plant-creations/empty'],
    ['PUT', '/plant-creations/obliterate'],
    ['POST', '/plant-creations/add'],
    ['PUT', '/pause'],
  ] as const;

test('a viewer sees the failed job and why, on a board that offers no action', async () => {
  const job = await queue.failedJob('a'.repeat(24));
  const vera = await signedIn(ops, viewer);
  const { headers } = await vera.see('/board?status=failed');
  expect(headers.get('location')).toBe('/board/viewer/queue/plant-creations?status=failed');

  const answer = await vera.call(`${boardOf('viewer')}?activeQueue=plant-creations&status=failed`);
  const { queues } = (await answer.json()) as { queues: Record<string, unknown>[] };
  expect(queues).toMatchObject([
    {
      name: 'plant-creations',
      readOnlyMode: true,
      allowRetries: false,
      jobs: [{ id: job.id, failedReason: 'no such shelf' }],
    },
  ]);
});

test('a viewer can neither retry, remove nor pause, on either board', async () => {
  const job = await queue.failedJob('b'.repeat(24));
  const vera = await signedIn(ops, viewer);
  for (const board of ['viewer', 'operator']) {
    for (const [method, path] of actions(String(job.id))) {
      const answer = await act(vera, boardOf(board) + path, method);
      expect(answer.status, `${method} ${board} ${path}`).toBe(403);
    }
  }
  expect(await job.getState()).toBe('failed');
  expect(await queue.queue.isPaused()).toBe(false);
});

test('a viewer cannot open the board that acts', async () => {
  const vera = await signedIn(ops, viewer);
  const page = await vera.see('/board/operator');
  expect(page.status).toBe(403);
  expect(await page.text()).toContain('This takes the role operator.');
  expect((await vera.call(boardOf('operator'))).status).toBe(403);
});

test('an operator retries a failed job', async () => {
  const job = await queue.failedJob('c'.repeat(24));
  const olga = await signedIn(ops, operator);
  expect((await act(olga, `${boardOf('operator')}/plant-creations/${job.id}/retry`)).ok).toBe(true);
  expect(await job.getState()).toBe('waiting');
});

test('an operator removes a failed job', async () => {
  const job = await queue.failedJob('d'.repeat(24));
  const olga = await signedIn(ops, operator);
  expect((await act(olga, `${boardOf('operator')}/plant-creations/${job.id}/clean`)).ok).toBe(true);
  expect(await queue.queue.getJob(String(job.id))).toBeUndefined();
});

test('an operator pauses and resumes the queue', async () => {
  const olga = await signedIn(ops, operator);
  expect((await act(olga, `${boardOf('operator')}/plant-creations/pause`)).ok).toBe(true);
  expect(await queue.queue.isPaused()).toBe(true);
  expect((await act(olga, `${boardOf('operator')}/plant-creations/resume`)).ok).toBe(true);
  expect(await queue.queue.isPaused()).toBe(false);
});

test('what was done, and what was tried, is one line in the log each, with who and to which job, and is counted', async () => {
  const job = await queue.failedJob('e'.repeat(24));
  const [vera, olga] = [await signedIn(ops, viewer), await signedIn(ops, operator)];
  await act(vera, `${boardOf('operator')}/plant-creations/${job.id}/retry`);
  await act(olga, `${boardOf('operator')}/plant-creations/${job.id}/retry`);
  await act(olga, `${boardOf('operator')}/plant-creations/no-such-job/clean`);

  const line = { queue: 'plant-creations', job: job.id, action: 'retry' };
  const lines = () => ops.log().filter(({ msg }) => msg === 'operator action');
  await waitFor(() => lines().some(({ job }) => job === 'no-such-job'), {
    withinMs: 2_000,
    what: 'the last line',
  });
  expect(lines().filter((logged) => logged['job'] === job.id)).toMatchObject([
    { ...line, user: viewer.name, outcome: 'refused' },
    { ...line, user: operator.name, outcome: 'done' },
  ]);
  expect(lines().at(-1)).toMatchObject({ action: 'clean', job: 'no-such-job', outcome: 'refused' });
  expect(await ops.metric('plants_ops_actions_total{action="retry",outcome="done"}')).toBe(2);
  expect(await ops.metric('plants_ops_actions_total{action="clean",outcome="done"}')).toBe(1);
});

test('the board asks nobody else for anything', async () => {
  for (const account of [viewer, operator]) {
    const visitor = await signedIn(ops, account);
    const page = await (await visitor.see(`/board/${account.role}`)).text();
    expect(page).toContain('<div id="root">');
    expect(page).not.toMatch(/<(?:link|script)[^>]+(?:href|src)="(?:https?:)?\/\//);
  }
});
