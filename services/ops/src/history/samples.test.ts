import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { healthyQueue, healthyStatus } from '../status/healthy-status.ts';
import { PLOTS, SERIES } from './plots.ts';
import { createRecentSamples } from './samples.ts';
import { KEPT_MS } from './timeline.ts';

const START = healthyStatus.at.getTime();
const measured = (ms: number, waiting = 0) => ({
  status: { ...healthyStatus, at: new Date(START + ms), queue: { ...healthyQueue, waiting } },
  api: [],
  workers: [],
});
const waitingIndex = SERIES.findIndex(({ id }) => id === 'waiting');

test('every series has a name of its own, and no plot more than two units', () => {
  expect(new Set(SERIES.map(({ id }) => id)).size).toBe(SERIES.length);
  for (const { id, series } of PLOTS) {
    expect(new Set(series.map(({ unit }) => unit)).size, id).toBeLessThanOrEqual(2);
  }
});

test('docs/operations.md lists every plot', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../../docs/operations.md'), 'utf8');
  const [, table = ''] = page.split('| plot | shows | from |');
  const listed = [...(table.split('\n\n')[0]?.matchAll(/^\| ([A-Z][^|]+) \|/gm) ?? [])].map(
    ([, title]) => title,
  );
  expect(listed).toEqual(PLOTS.map(({ title }) => title));
});

test('a page gets the samples that it does not have, in columns', () => {
  const recent = createRecentSamples();
  for (const ms of [0, 2_000, 4_000]) recent.add(measured(ms, ms));
  const { at, values } = recent.after(START);
  expect(at).toEqual([START + 2_000, START + 4_000]);
  expect(values).toHaveLength(SERIES.length);
  expect(values[waitingIndex]).toEqual([2_000, 4_000]);
  expect(recent.newest()[waitingIndex]).toBe(4_000);
});

test('a server that does not answer leaves a gap, not a zero', () => {
  const recent = createRecentSamples();
  recent.add({ status: { ...healthyStatus, queue: undefined, database: undefined }, api: [], workers: [] });
  expect(new Set(recent.newest())).toEqual(new Set([null]));
});

test('an hour is kept, however fast the readings follow', () => {
  const recent = createRecentSamples();
  for (let ms = 0; ms <= KEPT_MS + 60_000; ms += 2_000) recent.add(measured(ms));
  expect(recent.after(0).at).toHaveLength(1_800);
  for (let ms = 1; ms <= 5_000; ms++) recent.add(measured(KEPT_MS + 60_000 + ms));
  expect(recent.after(0).at).toHaveLength(3_600);
});

test('times ascend, also when the clock is set back', () => {
  const recent = createRecentSamples();
  for (const ms of [0, 10_000, 20_000, 5_000]) recent.add(measured(ms));
  expect(recent.after(0).at).toEqual([START, START + 5_000]);
});
