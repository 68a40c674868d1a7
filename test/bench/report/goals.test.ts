import { expect, test } from 'vitest';
import type { Results } from '../measure/results.ts';
import type { Round } from '../measure/round.ts';
import type { LaneName, SeriesName } from '../measure/series.ts';
import { farBeyond, goals } from './goals.ts';

const round = (more: Partial<Round>): Round => ({
  ...{ created: 1_000, repeated: 0, refused: 0, broken: 0, startedMs: 0, answeredMs: 1_000, seconds: 1 },
  ...{ p50Ms: 1, p99Ms: 2, cpuMs: 10, stored: 1_000, totalSeconds: 1, creates: 1_000, processed: 1_000 },
  ...{ cpu: { api: 1, worker: 1 }, cpuUsPerPlant: 100, memoryBytes: { api: 1, worker: 1 } },
  ...more,
});

function results(rounds: Partial<Record<SeriesName, Partial<Record<LaneName, Round[]>>>>): Results {
  const none = { c64: {}, c256: {}, c1: {}, 'open at plain': {}, 'open at ours': {} };
  return { rounds: { ...none, ...rounds } } as Results;
}

const cpu = (...values: number[]) => values.map((cpuUsPerPlant) => round({ cpuUsPerPlant }));

test('a ratio is taken round by round, since only neighbours met the same machine', () => {
  const [c64] = goals(results({ c64: { ours: cpu(100, 300, 200), plain: cpu(1_000, 6_000, 1_000) } }));
  expect(c64).toMatchObject({
    id: 'C64',
    ours: { median: 200, min: 100, max: 300 },
    other: { name: 'plain', value: { median: 1_000 } },
    ratio: { median: 0.1, min: 0.05, max: 0.2 },
    reached: false,
  });
});

test('a goal is reached by the median, and far beyond at twice', () => {
  const of = (ours: number) =>
    goals(results({ c64: { ours: cpu(ours), plain: cpu(1_300) } })).find(({ id }) => id === 'C64');
  expect(of(100)).toMatchObject({ reached: true });
  expect(of(150)).toMatchObject({ reached: false });
  expect(farBeyond(of(199) as never)).toBe(false);
  expect(farBeyond(of(201) as never)).toBe(true);
});

test('what more of is better has to be at least its goal', () => {
  const rate = (processed: number) => [round({ processed })];
  const s64 = (ours: number) =>
    goals(results({ c64: { ours: rate(ours), plain: rate(100) } })).find(({ id }) => id === 'S64');
  expect(s64(1_001)).toMatchObject({ reached: true });
  expect(s64(999)).toMatchObject({ reached: false });
  expect(farBeyond(s64(499) as never)).toBe(true);
});

test('a goal without figures is left out', () => {
  expect(goals(results({}))).toEqual([]);
});
