import { expect, test } from 'vitest';
import { waitFor } from './wait-for.ts';

test('a fact that comes true is returned', async () => {
  let asked = 0;
  const fact = () => (++asked < 3 ? undefined : `after ${asked}`);
  expect(await waitFor(fact, { withinMs: 5_000, what: 'the third answer' })).toBe('after 3');
});

test('a fact that stays false fails with what was waited for and the last state', async () => {
  await expect(waitFor(() => 0n, { withinMs: 50, what: 'more than nothing' })).rejects.toThrow(
    'not within 50 ms: more than nothing; last: "0n"',
  );
});

test('a fact that keeps throwing fails with the last reason', async () => {
  const fact = () => Promise.reject(new Error('connection refused'));
  await expect(waitFor(fact, { withinMs: 50, what: 'an answer' })).rejects.toThrow(
    'last: connection refused',
  );
});
