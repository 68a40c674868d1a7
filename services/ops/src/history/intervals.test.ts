import type { ApiReport, Distribution } from '@plant-store/contracts/process-report';
import type { Seen } from '@plant-store/platform/redis/heartbeats';
import { expect, test } from 'vitest';
import { createIntervals, mean, observed, perSecond, quantile } from './intervals.ts';

const none: Distribution = { bounds: [1, 2, 5], counts: [0, 0, 0, 0], sum: 0 };

/** A report of a replica that has answered so many requests. */
function report(upMs: number, stored: number, more: Partial<Seen<ApiReport>> = {}): Seen<ApiReport> {
  return {
    service: 'api',
    name: 'api-1',
    version: '1.0.0',
    process: 'p1',
    upMs,
    ageMs: 100,
    ended: false,
    answers: { 200: stored },
    latency: none,
    commitPlants: none,
    ...more,
  };
}
const stored = ({ answers }: ApiReport) => answers['200'] ?? 0;

test('a rate is what a counter grew between two reports, by the time that the process itself measured', () => {
  const intervals = createIntervals();
  intervals([report(60_000, 1_000)]);
  expect(perSecond(intervals([report(62_000, 1_400)]).api, stored)).toBe(200);
});

test('until the next report comes, the last rate stands', () => {
  const intervals = createIntervals();
  intervals([report(60_000, 1_000)]);
  intervals([report(62_000, 1_400)]);
  expect(perSecond(intervals([report(62_000, 1_400, { ageMs: 1_900 })]).api, stored)).toBe(200);
});

test('the rates of all replicas are added', () => {
  const intervals = createIntervals();
  const second = { process: 'p2', name: 'api-2' };
  intervals([report(60_000, 0), report(9_000, 0, second)]);
  const both = intervals([report(62_000, 100), report(11_000, 300, second)]);
  expect(perSecond(both.api, stored)).toBe(200);
});

test('a process that has just started counts from its start, one that runs for longer from its next report', () => {
  const intervals = createIntervals();
  expect(perSecond(intervals([report(2_000, 500)]).api, stored)).toBe(250);
  expect(intervals([report(600_000, 9_000, { process: 'old' })]).api).toEqual([]);
});

test('a restarted process never makes a rate negative', () => {
  const intervals = createIntervals();
  intervals([report(60_000, 1_000)]);
  const restarted = intervals([
    report(60_000, 1_000, { ageMs: 7_000 }),
    report(2_000, 4, { process: 'p2', ageMs: 0 }),
  ]);
  expect(perSecond(restarted.api, stored)).toBe(2);
});

test('after an outage of Redis the rate is the average over it', () => {
  const intervals = createIntervals();
  intervals([report(60_000, 1_000)]);
  intervals([report(62_000, 1_400)]);
  expect(perSecond(intervals(undefined).api, stored)).toBeUndefined();
  expect(perSecond(intervals([report(72_000, 2_400)]).api, stored)).toBe(100);
});

test('without a process that reports there is no rate, rather than 0', () => {
  expect(perSecond(createIntervals()([report(60_000, 1, { ended: true })]).api, stored)).toBeUndefined();
});

test('what was observed is that of the interval alone', () => {
  const intervals = createIntervals();
  intervals([report(60_000, 0, { latency: { ...none, counts: [10, 0, 0, 0], sum: 5 } })]);
  const { api } = intervals([report(62_000, 0, { latency: { ...none, counts: [10, 4, 0, 0], sum: 11 } })]);
  expect(observed(api, ({ latency }) => latency)).toEqual({ ...none, counts: [0, 4, 0, 0], sum: 6 });
  expect(observed(api, ({ commitPlants }) => commitPlants)).toBeUndefined();
});

test('a quantile is interpolated within its range, and never beyond the last bound', () => {
  const values: Distribution = { bounds: [1, 2, 5], counts: [50, 40, 8, 2], sum: 150 };
  expect(quantile(values, 0.5)).toBe(1);
  expect(quantile(values, 0.7)).toBe(1.5);
  expect(quantile(values, 0.94)).toBeCloseTo(3.5);
  expect(quantile(values, 0.99)).toBe(5);
  expect(mean(values)).toBe(1.5);
  expect(quantile(undefined, 0.5)).toBeUndefined();
});
