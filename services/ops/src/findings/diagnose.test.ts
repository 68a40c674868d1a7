import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { healthyDatabase, healthyQueue, healthyStatus, healthyWorker } from '../status/healthy-status.ts';
import type { SystemStatus } from '../status/status.ts';
import { createDiagnosis, FINDING_IDS } from './diagnose.ts';

const at = (seconds: number): Date => new Date(healthyStatus.at.getTime() + seconds * 1_000);
const queue = (more: Partial<NonNullable<SystemStatus['queue']>>): Partial<SystemStatus> => ({
  queue: { ...healthyQueue, ...more },
});
const database = (more: Partial<NonNullable<SystemStatus['database']>>): Partial<SystemStatus> => ({
  database: { ...healthyDatabase, ...more },
});
const worker = (more: Partial<typeof healthyWorker>) => ({ ...healthyWorker, ...more });

/** The findings after the same state has been read for 10 s. */
function findings(more: Partial<SystemStatus>) {
  const diagnose = createDiagnosis();
  diagnose({ ...healthyStatus, ...more, at: at(0) });
  return diagnose({ ...healthyStatus, ...more, at: at(10) });
}

const faults: [id: string, level: string, status: Partial<SystemStatus>, headline: RegExp][] = [
  ['mongodb-unreachable', 'bad', { database: undefined }, /^MongoDB is unreachable$/],
  [
    'index-missing',
    'warn',
    database({ missingIndexes: ['audit_blocks.event'] }),
    /the index audit_blocks\.event$/,
  ],
  ['disk-nearly-full', 'warn', database({ diskUsed: 0.9 }), /90 % full/],
  ['disk-nearly-full', 'bad', database({ diskUsed: 0.97 }), /97 % full/],
  ['anchor-late', 'warn', database({ anchorAgeMs: 200_000 }), /no new anchor/],
  [
    'clock-off',
    'warn',
    { clocks: [{ server: 'Redis', aheadMs: -7_000 }] },
    /Redis and of this console differ by 7 s/,
  ],
  ['redis-unreachable', 'warn', { queue: undefined, redis: undefined }, /^Redis is unreachable$/],
  ['redis-full', 'warn', { redis: { faults: [], memoryUsed: 0.99, clockAheadMs: 0 } }, /^Redis is full$/],
  [
    'redis-settings',
    'warn',
    { redis: { faults: ['appendonly is no'], memoryUsed: 0, clockAheadMs: 0 } },
    /may drop/,
  ],
  ['queue-paused', 'warn', queue({ paused: true }), /^The queue is paused$/],
  ['queue-limited', 'warn', queue({ rateLimit: { max: 1, perMs: 60_000 } }), /at most 1 jobs in 1\smin/],
  ['queue-limited', 'warn', queue({ concurrency: 2 }), /at most 2 jobs at a time/],
  ['jobs-in-unused-states', 'warn', queue({ unusual: { delayed: 2, prioritized: 0 } }), /: 2 delayed$/],
  ['foreign-jobs', 'warn', queue({ foreignJobs: ['mail'] }), /other programs: mail$/],
  ['jobs-failed', 'warn', queue({ failed: 1_200, failureReasons: ['no name'] }), /^1,200 jobs have failed$/],
  [
    'jobs-failed',
    'warn',
    database({ backlog: { plants: 0, isCapped: false, oldestMs: 0, poison: 1 } }),
    /^1 plant cannot be processed$/,
  ],
  ['no-worker', 'warn', queue({ connections: 0, workers: [] }), /^No worker is connected$/],
  [
    'worker-silent',
    'bad',
    queue({ waiting: 1_973, workers: [worker({ state: 'silent', sinceReportMs: 42_000 })] }),
    /^worker-1 is connected and does not respond while 1,973 jobs wait: restart it$/,
  ],
  [
    'worker-stuck',
    'warn',
    queue({ waiting: 1_973, oldestWaitingMs: 42_000, workers: [worker({ sinceProgressMs: 42_000 })] }),
    /^worker-1 is connected and has processed nothing for 42\ss while 1,973 jobs wait: restart it$/,
  ],
  ['worker-restarts', 'warn', queue({ workers: [worker({ recentStarts: 5 })] }), /^worker-1 started 5 times/],
  [
    'behind',
    'warn',
    database({ backlog: { plants: 1, isCapped: false, oldestMs: 61_000, poison: 0 } }),
    /behind: the oldest plant waits for 1\smin/,
  ],
];

test.each(faults)('%s is found (%s)', (id, level, status, headline) => {
  expect(findings(status)).toMatchObject([{ id, level, headline: expect.stringMatching(headline) }]);
});

test.each([
  ['at rest', {}],
  ['a worker that has just missed reports', queue({ workers: [worker({ sinceReportMs: 9_000 })] })],
  [
    'a second worker that takes nothing while none waits',
    queue({ workers: [worker({ sinceProgressMs: 900_000 })] }),
  ],
  [
    'jobs that have just been published',
    queue({ waiting: 9_000, oldestWaitingMs: 3_000, workers: [worker({ sinceProgressMs: 90_000 })] }),
  ],
  ['two restarts', queue({ workers: [worker({ recentStarts: 3 })] })],
  ['workers that Redis does not tell', queue({ connections: undefined })],
])('nothing is found in a healthy system: %s', (_what, status) => {
  expect(findings(status)).toEqual([]);
});

test('a worker that restarts within seconds is no finding', () => {
  const diagnose = createDiagnosis();
  const away = { ...healthyStatus, ...queue({ connections: 0, workers: [] }) };
  expect(diagnose({ ...away, at: at(0) })).toEqual([]);
  expect(diagnose({ ...away, at: at(4) })).toEqual([]);
  expect(diagnose({ ...healthyStatus, at: at(6) })).toEqual([]);
  expect(diagnose({ ...away, at: at(8) })).toEqual([]);
});

test.each([
  ['a pause', queue({ paused: true, waiting: 9 })],
  ['an outage of Redis', { queue: undefined, redis: undefined }],
  ['an outage of MongoDB', { database: undefined }],
])('after %s a worker is called stuck once it has had 12 s to make progress', (_what, hindered) => {
  const diagnose = createDiagnosis();
  const read = (seconds: number, more: Partial<SystemStatus>) =>
    diagnose({ ...healthyStatus, ...more, at: at(seconds) }).filter(({ id }) => id === 'worker-stuck');
  const without = (ms: number) =>
    queue({ waiting: 9, oldestWaitingMs: ms, workers: [worker({ sinceProgressMs: ms })] });
  read(0, hindered);
  read(60, hindered);
  expect(read(62, without(62_000))).toEqual([]);
  expect(read(70, without(70_000))).toEqual([]);
  expect(read(72, without(72_000))).toMatchObject([{ since: at(60) }]);
});

test('all that is wrong is found at once, the gravest first, each since it began', () => {
  const diagnose = createDiagnosis();
  const paused = queue({ paused: true, failed: 2 });
  diagnose({ ...healthyStatus, ...paused, at: at(0) });
  const found = diagnose({ ...healthyStatus, ...paused, ...database({ diskUsed: 0.99 }), at: at(60) });
  expect(found.map(({ id, since }) => [id, since])).toEqual([
    ['disk-nearly-full', at(60)],
    ['queue-paused', at(0)],
    ['jobs-failed', at(0)],
  ]);
});

test('what went and comes back begins anew', () => {
  const diagnose = createDiagnosis();
  diagnose({ ...healthyStatus, ...queue({ paused: true }), at: at(0) });
  diagnose({ ...healthyStatus, at: at(10) });
  expect(diagnose({ ...healthyStatus, ...queue({ paused: true }), at: at(20) })).toMatchObject([
    { since: at(20) },
  ]);
});

test('a finding whose reading tells its age began then, also for a console that has just started', () => {
  const silent = queue({ workers: [worker({ state: 'silent', sinceReportMs: 42_000 })] });
  expect(createDiagnosis()({ ...healthyStatus, ...silent, at: at(0) })).toMatchObject([{ since: at(-42) }]);
});

test('every rule is tried', () => {
  expect(new Set(faults.map(([id]) => id))).toEqual(new Set(FINDING_IDS));
});

test('every finding has its section in the runbook', () => {
  const runbook = readFileSync(join(import.meta.dirname, '../../../../docs/runbook.md'), 'utf8');
  const sections = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  );
  for (const id of FINDING_IDS) expect(sections, id).toContain(id);
});
