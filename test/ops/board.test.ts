import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { openQueue } from './creation-queue.ts';
import { operator, type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn } from './visitor.ts';

const database = testDatabase();
const redis = testQueue();

let ops: RunningConsole;
let queue: ReturnType<typeof openQueue>;
beforeAll(async () => {
  queue = openQueue(redis);
  ops = await startConsole({ MONGODB_URL: database.url, REDIS_URL: redis.url, QUEUE_PREFIX: redis.prefix });
});
afterAll(async () => {
  await ops?.close();
  await queue?.close();
});

const API = '/board/api/queues';
const everyone = [operator, viewer];

const actions = (id: string) =>
  [
    ['PUT', `/plant-creations/${id}/retry`],
    ['PUT', `/plant-creations/${id}/clean`],
    ['PUT', `/plant-creations/${id}/promote`],
    ['PATCH', `/plant-creations/${id}/update-data`],
    ['PUT', '/plant-creations/retry/failed'],
    ['PUT', '/plant-creations/clean/failed'],
    ['PUT', '/plant-creations/pause'],
    ['PUT', '/plant-creations/concurrency'],
    ['PUT', '/plant-creations/empty'],
    ['PUT', '/plant-creations/obliterate'],
    ['POST', '/plant-creations/add'],
    ['PUT', '/pause'],
  ] as const;

test.each(everyone)(
  'a $role sees the failed job and why, on a board that offers no action',
  async (account) => {
    const job = await queue.failedJob(`${everyone.indexOf(account)}`.repeat(24));
    const visitor = await signedIn(ops, account);
    const { headers } = await visitor.see('/queue?status=failed');
    expect(headers.get('location')).toBe('/board/queue/plant-creations?status=failed');

    const answer = await visitor.call(`${API}?activeQueue=plant-creations&status=failed`);
    const { queues } = (await answer.json()) as {
      queues: { jobs: { id: string; failedReason: string }[] }[];
    };
    expect(queues).toMatchObject([{ name: 'plant-creations', readOnlyMode: true, allowRetries: false }]);
    expect(queues[0]?.jobs.find(({ id }) => id === job.id)).toMatchObject({ failedReason: 'no such shelf' });
  },
);

test.each(everyone)('a $role can change nothing through the board', async (account) => {
  const job = await queue.failedJob(`${everyone.indexOf(account) + 2}`.repeat(24));
  const visitor = await signedIn(ops, account);
  for (const [method, path] of actions(String(job.id))) {
    const answer = await visitor.call(API + path, {
      method,
      ...(method !== 'PUT' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
    });
    expect([answer.status, await answer.json()], `${method} ${path}`).toEqual([
      403,
      { error: 'The board only shows the queue. To change it, use Controls.' },
    ]);
  }
  expect(await job.getState()).toBe('failed');
  expect(await queue.queue.isPaused()).toBe(false);
  expect(await queue.queue.getGlobalConcurrency()).toBeNull();
});

test('the board asks nobody else for anything', async () => {
  for (const account of everyone) {
    const visitor = await signedIn(ops, account);
    const page = await (await visitor.see('/board')).text();
    expect(page).toContain('<div id="root">');
    expect(page).not.toMatch(/<(?:link|script)[^>]+(?:href|src)="(?:https?:)?\/\//);
  }
});
