import { expect, test } from 'vitest';
import { recentIds } from './recent-ids.ts';

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => BigInt(from + n));

test('remembers at least one generation, at most two, and nothing it was not told', () => {
  const recent = recentIds(100);
  for (const id of range(0, 1_000)) {
    recent.set(id, 'stored');
    const remembered = range(Math.max(0, Number(id) - 99), Number(id) + 1);
    expect(new Set(remembered.map(recent.get))).toEqual(new Set(['stored']));
    expect([recent.get(id + 1n), recent.get(id - 200n)]).toEqual([undefined, undefined]);
  }
});

test('ids set again fill no generation', () => {
  const recent = recentIds(10);
  recent.set(1n, 'stored');
  for (let times = 0; times < 1_000; times++) recent.set(2n, 'stored');
  expect(recent.get(1n)).toBe('stored');
});

test('tells the last state of an id, and nothing of a forgotten one, whichever generation it is in', () => {
  const recent = recentIds(2);
  const outcome = Promise.resolve('created' as const);
  recent.set(1n, outcome);
  recent.set(2n, outcome);
  recent.set(1n, 'stored');
  expect([recent.get(1n), recent.get(2n)]).toEqual(['stored', outcome]);
  recent.forget(1n);
  recent.forget(2n);
  expect([recent.get(1n), recent.get(2n)]).toEqual([undefined, undefined]);
});
