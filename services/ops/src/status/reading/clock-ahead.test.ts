import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clockAhead } from './clock-ahead.ts';

const ASKED_AT = Date.UTC(2026, 10, 1);
const ANSWER_MS = 800;

beforeEach(() => {
  vi.useFakeTimers({ now: ASKED_AT });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['ahead of the answer', ANSWER_MS + 7_000, 7_000],
  ['that of the answer', ANSWER_MS, 0],
  ['between question and answer', 300, 0],
  ['that of the question', 0, 0],
  ['behind the question', -7_000, -7_000],
])('a time %s', async (_what, sinceAskedMs, aheadMs) => {
  const ahead = await clockAhead(async () => {
    vi.setSystemTime(ASKED_AT + ANSWER_MS);
    return ASKED_AT + sinceAskedMs;
  });
  expect(ahead).toBe(aheadMs);
});
