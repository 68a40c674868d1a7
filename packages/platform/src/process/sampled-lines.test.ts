import { expect, test } from 'vitest';
import { sampledLines } from './sampled-lines.ts';

test('five lines of a kind a second are written, and the next one says how many were left out', () => {
  let now = 0;
  const lines = sampledLines(() => now);
  const taken = (kind: string, times: number) => Array.from({ length: times }, () => lines.take(kind));
  expect(taken('a', 7)).toEqual([{}, {}, {}, {}, {}, undefined, undefined]);
  expect(taken('b', 1)).toEqual([{}]);
  now = 1_000;
  expect(taken('a', 2)).toEqual([{ leftOut: 2 }, {}]);
});
