import { availableParallelism, loadavg } from 'node:os';
import { expect, test } from 'vitest';
import { waitFor } from './wait-for.ts';

test('a fact that comes true is returned', async () => {
  let asked = 0;
  const fact = () => (++asked < 3 ? undefined : `after ${asked}`);
  expect(await waitFor(fact, { withinMs: 5_000, what: 'the third answer' })).toBe('after 3');
});

test('a fact that stays false fails with what was waited for and the last state', async () => {
  await expect(waitFor(() => 0n, { withinMs: 50, what: 'more than nothing' })).rejects.toThrow(
    /^not within \d+ ms: more than nothing; last: "0n"$/,
  );
});

test('a wait is longer by as much as processes share a core, at most sixfold', async () => {
  const factor = () => Math.min(Math.max(1, (loadavg()[0] as number) / availableParallelism()), 6);
  const before = factor();
  const message = await waitFor(() => false, { withinMs: 100, what: 'a truth' }).then(
    () => 'not refused',
    (error: Error) => error.message,
  );
  const after = factor();
  const waitedMs = Number(/^not within (\d+) ms/.exec(message)?.[1]);
  expect(waitedMs).toBeGreaterThanOrEqual(Math.floor(100 * Math.min(before, after)));
  expect(waitedMs).toBeLessThanOrEqual(Math.ceil(100 * Math.max(before, after)));
});

test('a fact that keeps throwing fails with the last reason', async () => {
  const fact = () => Promise.reject(new Error('connection refused'));
  await expect(waitFor(fact, { withinMs: 50, what: 'an answer' })).rejects.toThrow(
    'last: connection refused',
  );
});
