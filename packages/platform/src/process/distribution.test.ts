import { Histogram } from 'prom-client';
import { expect, test } from 'vitest';
import { readDistribution } from './distribution.ts';

const histogram = (labelNames: string[] = []) =>
  new Histogram({ name: 'h', help: 'h', buckets: [1, 2, 5], labelNames, registers: [] });

test('observations are counted in their bucket alone, and beyond the last bound too', async () => {
  const values = histogram();
  for (const value of [0.5, 1, 1.5, 4, 70]) values.observe(value);
  expect(await readDistribution(values)).toEqual({ bounds: [1, 2, 5], counts: [2, 1, 1, 1], sum: 77 });
});

test('before the first observation all counts are 0', async () => {
  expect(await readDistribution(histogram())).toEqual({ bounds: [1, 2, 5], counts: [0, 0, 0, 0], sum: 0 });
});

test('observations under different labels are added', async () => {
  const values = histogram(['outcome']);
  values.observe({ outcome: 'a' }, 1);
  values.observe({ outcome: 'b' }, 1.5);
  values.observe({ outcome: 'b' }, 0.5);
  expect(await readDistribution(values)).toEqual({ bounds: [1, 2, 5], counts: [2, 1, 0, 0], sum: 3 });
});
