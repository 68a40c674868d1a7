import { expect, test } from 'vitest';
import type { DatabaseStatus } from './database-status.ts';
import type { QueueStatus } from './queue-status.ts';
import { statusWords } from './status-words.ts';
import type { WorkerStatus } from './worker-status.ts';

const now = new Date('2026-05-01T12:00:00Z');
const database: DatabaseStatus = { plants: 5, pending: 0, oldestPendingMs: 0, chains: [] };
const queue: QueueStatus = {
  waiting: 0,
  active: 0,
  delayed: 0,
  failed: 0,
  oldestWaitingMs: 0,
  paused: false,
  connections: 2,
  workers: [],
};
const words = (more: { database?: Partial<DatabaseStatus>; queue?: Partial<QueueStatus> } = {}) =>
  statusWords({ database: { ...database, ...more.database }, queue: { ...queue, ...more.queue } }, now);

test.each([
  ['nothing to do', {}, 'good', 'All is well'],
  ['plants being indexed', { database: { pending: 3, oldestPendingMs: 900 } }, 'busy', 'All is well'],
  [
    'plants pending for too long',
    { database: { pending: 1, oldestPendingMs: 61_000 } },
    'warn',
    'Indexing and auditing are behind',
  ],
  [
    'a job waiting for too long',
    { queue: { waiting: 1, oldestWaitingMs: 61_000 } },
    'warn',
    'Indexing and auditing are behind',
  ],
  ['one failed job', { queue: { failed: 1 } }, 'warn', 'A job has failed'],
  ['failed jobs', { queue: { failed: 1_200 } }, 'warn', '1,200 jobs have failed'],
  ['no worker', { queue: { connections: 0, failed: 1 } }, 'warn', 'No worker is connected'],
  ['a pause', { queue: { paused: true, connections: 0 } }, 'warn', 'The queue is paused'],
  ['workers that Redis does not tell', { queue: { connections: undefined } }, 'good', 'All is well'],
] as const)('the verdict on %s', (_case, status, level, headline) => {
  expect(words(status).verdict).toMatchObject({ level, headline });
});

test('a database that is away is said first: nothing can be created', () => {
  const { verdict, facts } = statusWords({ database: undefined, queue: undefined }, now);
  expect(verdict).toMatchObject({ level: 'bad', headline: 'MongoDB and Redis are unreachable' });
  expect(Object.values(facts).map(({ text }) => text)).toEqual(Array(8).fill('–'));
});

test('a database alone that is away leaves the queue to be seen', () => {
  const { verdict, facts } = statusWords({ database: undefined, queue }, now);
  expect(verdict).toMatchObject({ level: 'bad', headline: 'MongoDB is unreachable' });
  expect(facts.waiting.text).toBe('0');
});

test('a Redis that is away says that plants are created as usual', () => {
  const { verdict, facts } = statusWords({ database, queue: undefined }, now);
  expect(verdict).toMatchObject({ level: 'warn', headline: 'Redis is unreachable' });
  expect(verdict.advice).toContain('Plants are created as usual');
  expect(facts.plants.text).toBe('5');
});

test('more pending plants than are counted are shown as such', () => {
  const { pending } = words({ database: { pending: 10_000, oldestPendingMs: 5_000 } }).facts;
  expect(pending).toEqual({ text: '10,000+', note: 'the oldest for 5.0\u00a0s' });
});

test('the newest block of each chain is told with its age', () => {
  const sealed = new Date(now.getTime() - 75_000);
  expect(words({ database: { chains: [{ chain: 2, height: 1_024, entries: 7, sealed }] } }).chains).toEqual([
    { chain: '2', height: '1,024', entries: '7', sealed: '1\u00a0min\u00a015\u00a0s ago' },
  ]);
});

test('each worker is told by name with its last progress, and the missing are counted', () => {
  const worker: WorkerStatus = {
    name: 'worker-1',
    version: '1.0.0',
    state: 'silent',
    upMs: 3_600_000,
    jobsInHand: 3,
    batches: 1,
    sinceProgressMs: 42_000,
    sinceReportMs: 41_000,
    recentStarts: 0,
  };
  const fresh = { ...worker, name: 'worker-2', state: 'idle' as const, batches: 0, jobsInHand: 0 };
  const { workers, facts } = words({ queue: { workers: [worker, fresh] } });
  expect(workers).toMatchObject([
    { name: 'worker-1', state: 'does not respond for 41\u00a0s', progress: '42\u00a0s ago', jobs: '3' },
    { name: 'worker-2', state: 'idle', level: 'good', progress: 'no batch yet' },
  ]);
  expect(facts.workers).toEqual({ text: '1', note: 'report; 1 no longer', level: 'warn' });
});
