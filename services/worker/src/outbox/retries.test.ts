import { expect, test } from 'vitest';
import type { CreationQueue } from './creation-queue.ts';
import { createRetries } from './retries.ts';

/** A job that fails again at once whenever it is retried; the times of its retries, in seconds. */
async function retriesOf(failsByItself: boolean, forSeconds: number): Promise<number[]> {
  let nowMs = 0;
  let failedAt = 0;
  const retriedAt: number[] = [];
  const queue = {
    failed: async () => [{ id: 'commit-a', failedAt: String(failedAt) }],
    attempts: async () => [{ made: retriedAt.length + 1, failsByItself }],
    retry: async () => {
      failedAt = nowMs;
      retriedAt.push(nowMs / 1_000);
      return 'retried';
    },
  } as unknown as CreationQueue;
  const { retryDue } = createRetries(queue, 5_000, () => nowMs);
  for (; nowMs <= forSeconds * 1_000; nowMs += 1_000) await retryDue();
  return retriedAt;
}

const pauses = (times: readonly number[]) => times.map((time, index) => time - (times[index - 1] ?? 0));

test('a job that fails by itself is retried after pauses that double, up to ten minutes', async () => {
  const longest = pauses(await retriesOf(true, 2 * 3_600));
  expect(longest.slice(0, 4)).toEqual([5, 11, 21, 41]);
  expect(Math.max(...longest)).toBe(601);
});

test('any other failure that has lasted for hours is retried within 31 s of its end (E1)', async () => {
  const longest = pauses(await retriesOf(false, 2 * 3_600));
  expect(longest.slice(0, 3)).toEqual([5, 11, 21]);
  expect(Math.max(...longest)).toBe(31);
});

test('more jobs that fail again at once than a sweep retries: each gets its turn', async () => {
  let nowMs = 0;
  const jobs = Array.from({ length: 1_001 }, (_, n) => ({ id: `commit-${n}`, failedAt: '0' }));
  const retried = new Set<string>();
  const queue = {
    failed: async () => jobs.map((job) => ({ ...job })),
    attempts: async (ids: readonly string[]) => ids.map(() => ({ made: 10, failsByItself: false })),
    retry: async (id: string) => {
      retried.add(id);
      const job = jobs.find((one) => one.id === id);
      if (job !== undefined) job.failedAt = String(nowMs);
      return 'retried';
    },
  } as unknown as CreationQueue;
  const { retryDue } = createRetries(queue, 5_000, () => nowMs);
  // Longer between two sweeps than the longest pause of such a job: 500 are due again when the next 500 were retried.
  for (let sweep = 0; sweep < 6; sweep++, nowMs += 31_000) await retryDue();
  expect(retried.size).toBe(jobs.length);
});
