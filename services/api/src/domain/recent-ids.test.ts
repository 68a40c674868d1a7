import { expect, test } from 'vitest';
import { recentIds } from './recent-ids.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => BigInt(from + n));

test('remembers at least one generation, at most two, and nothing it was not told', () => {
  const recent = recentIds(100);
  for (const id of range(0, 1_000)) {
    recent.add(id);
    for (const known of range(Math.max(0, Number(id) - 99), Number(id) + 1))
      expect(recent.has(known)).toBe(true);
    expect(recent.has(id + 1n)).toBe(false);
    expect(recent.has(id - 200n)).toBe(false);
  }
});

test('ids added again fill no generation', () => {
  const recent = recentIds(10);
  recent.add(1n);
  for (let times = 0; times < 1_000; times++) recent.add(2n);
  expect(recent.has(1n)).toBe(true);
});
