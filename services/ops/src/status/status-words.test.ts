import { expect, test } from 'vitest';
import { createDiagnosis } from '../findings/diagnose.ts';
import type { Pace } from '../monitor/pace.ts';
import { healthyDatabase, healthyQueue, healthyStatus, healthyWorker } from './healthy-status.ts';
import type { DatabaseStatus } from './reading/database-status.ts';
import type { QueueStatus } from './reading/queue-status.ts';
import type { SystemStatus } from './status.ts';
import { statusWords } from './status-words.ts';

const now = healthyStatus.at;

function words(more: Partial<SystemStatus> = {}, pace?: Pace) {
  const status = { ...healthyStatus, ...more };
  return statusWords({ status, findings: createDiagnosis()(status), pace }, now);
}
const database = (more: Partial<DatabaseStatus['backlog']>): Partial<SystemStatus> => ({
  database: { ...healthyDatabase, backlog: { ...healthyDatabase.backlog, ...more } },
});
const queue = (more: Partial<QueueStatus>): Partial<SystemStatus> => ({
  queue: { ...healthyQueue, ...more },
});

test('a system at rest is well', () => {
  expect(words().verdict).toMatchObject({ level: 'good', headline: 'All is well' });
  expect(words(database({ plants: 3, oldestMs: 900 })).verdict).toMatchObject({
    level: 'busy',
    headline: 'All is well',
  });
});

test('the verdict is the gravest finding, and says how many more there are', () => {
  const { verdict, findings } = words({
    ...queue({ paused: true, failed: 1 }),
    database: undefined,
    faults: {},
  });
  expect(verdict).toMatchObject({ level: 'bad', headline: 'MongoDB is unreachable' });
  expect(verdict.advice).toMatch(/told to try again\. Nothing is lost\. 2 more below\.$/);
  expect(findings.map(({ key }) => key)).toEqual(['mongodb-unreachable', 'queue-paused', 'jobs-failed']);
});

test('a finding tells since when, why, what is affected, what to do, and where the runbook says more', () => {
  const [finding] = words(database({ plants: 1, oldestMs: 102_000 })).findings;
  expect(finding).toEqual({
    key: 'behind',
    level: 'warn',
    headline: 'Indexing and auditing are behind: the oldest plant waits for 1\u00a0min\u00a042\u00a0s',
    since: 'for 42\u00a0s, since 11:59:18 UTC',
    cause: expect.stringContaining('Plants arrive faster'),
    affected: expect.stringContaining('Creates are not affected'),
    action: expect.stringContaining('add workers'),
    runbook: '/runbook#behind',
  });
});

test('figures of servers that do not answer are unknown', () => {
  const { facts } = words({ database: undefined, queue: undefined });
  expect(Object.values(facts).map(({ text }) => text)).toEqual(Array(8).fill('–'));
});

test.each([
  ['counted', { plants: 2 }, undefined, { text: '2', note: 'the oldest for 5.0\u00a0s' }],
  ['beyond what is counted', { plants: 12_000, isCapped: true }, undefined, { text: 'about 12,000' }],
  [
    'shrinking',
    { plants: 600 },
    { clearInMs: 180_000 },
    { note: 'the oldest for 5.0\u00a0s, clear in 3\u00a0min\u00a00\u00a0s' },
  ],
  ['growing', { plants: 600 }, { growsPerS: 199.2 }, { note: 'the oldest for 5.0\u00a0s, growing by 200/s' }],
  [
    'with poison plants',
    { plants: 2, poison: 3 },
    undefined,
    { note: 'the oldest for 5.0\u00a0s; 3 more cannot be processed' },
  ],
  [
    'of poison plants alone',
    { plants: 0, poison: 3 },
    undefined,
    { text: '0', note: 'all others are indexed and audited; 3 more cannot be processed' },
  ],
] as const)('a backlog %s is told', (_what, backlog, pace, fact) => {
  const rates = { arrivedPerS: 0, processedPerS: 0, clearInMs: undefined, growsPerS: 0, ...pace };
  const { facts } = words(database({ oldestMs: 5_000, ...backlog }), pace === undefined ? undefined : rates);
  expect(facts.pending).toMatchObject(fact);
});

test('the newest block of each chain is told with its age', () => {
  const sealed = new Date(now.getTime() - 75_000);
  const chains = [{ chain: 2, height: 1_024, entries: 7, sealed }];
  expect(words({ database: { ...healthyDatabase, chains } }).chains).toEqual([
    { chain: '2', height: '1,024', entries: '7', sealed: '1\u00a0min\u00a015\u00a0s ago' },
  ]);
});

test('each worker is told by name with its last progress, and the missing are counted', () => {
  const silent = {
    ...healthyWorker,
    state: 'silent' as const,
    jobsInHand: 3,
    sinceProgressMs: 42_000,
    sinceReportMs: 41_000,
  };
  const fresh = { ...healthyWorker, name: 'worker-2', batches: 0 };
  const { workers, facts } = words(queue({ workers: [silent, fresh] }));
  expect(workers).toMatchObject([
    { name: 'worker-1', state: 'does not respond for 41\u00a0s', progress: '42\u00a0s ago', jobs: '3' },
    { name: 'worker-2', state: 'idle', level: 'good', progress: 'no batch yet' },
  ]);
  expect(facts.workers).toEqual({ text: '1', note: 'report, 1 no longer', level: 'warn' });
});
