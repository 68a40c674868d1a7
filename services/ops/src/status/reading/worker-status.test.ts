import { expect, test } from 'vitest';
import { workersOf } from './worker-status.ts';

const heartbeat = {
  process: 'p1',
  name: 'worker-1',
  version: '1.0.0',
  upMs: 3_600_000,
  jobsInHand: 0,
  batches: 7,
  sinceBatchMs: 500,
  ageMs: 1_000,
  ended: false,
};
const connected = () => true;
const away = () => false;

test.each([
  ['with jobs in hand works', { jobsInHand: 2 }, connected, 'working'],
  ['without any is idle', {}, connected, 'idle'],
  ['that reports no longer and is connected is silent', { ageMs: 10_001 }, connected, 'silent'],
  ['that reports no longer and is not connected is gone', { ageMs: 10_001 }, away, 'gone'],
] as const)('a worker %s', (_what, more, isConnected, state) => {
  expect(workersOf([{ ...heartbeat, ...more }], isConnected)).toMatchObject([{ name: 'worker-1', state }]);
});

test('the last progress is counted from the last batch, or from the start before the first', () => {
  expect(workersOf([heartbeat], connected)).toMatchObject([{ sinceProgressMs: 1_500, upMs: 3_601_000 }]);
  const { sinceBatchMs: _, ...fresh } = { ...heartbeat, upMs: 3_000 };
  expect(workersOf([fresh], connected)).toMatchObject([{ sinceProgressMs: 4_000 }]);
});

test('a worker that ended in order is listed no longer, and one that restarted is listed once', () => {
  const ended = { ...heartbeat, ended: true };
  expect(workersOf([ended], away)).toEqual([]);
  const crashed = { ...heartbeat, ageMs: 60_000 };
  const next = { ...heartbeat, process: 'p2', upMs: 50_000 };
  expect(workersOf([crashed, next], connected)).toMatchObject([{ state: 'idle', recentStarts: 1 }]);
});

test('starts of the last five minutes are counted by name, however each process ended', () => {
  const starts = [10_000, 30_000, 90_000, 400_000].map((ageMs, index) => ({
    ...heartbeat,
    process: `p${index}`,
    upMs: 1_000,
    ageMs,
    ended: index % 2 === 0,
  }));
  expect(workersOf([...starts, { ...heartbeat, process: 'now', upMs: 2_000 }], connected)).toMatchObject([
    { recentStarts: 4 },
  ]);
});

test('two processes that run under one name are both listed', () => {
  expect(workersOf([heartbeat, { ...heartbeat, process: 'p2' }], connected)).toHaveLength(2);
});

test('workers are listed by name, numbers in their order', () => {
  const names = ['worker-10', 'worker-2'].map((name) => ({ ...heartbeat, name, process: name }));
  expect(workersOf(names, connected).map(({ name }) => name)).toEqual(['worker-2', 'worker-10']);
});
