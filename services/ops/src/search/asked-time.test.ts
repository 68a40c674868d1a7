import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askedTime } from './asked-time.ts';

/** Nothing may depend on where the console or the command runs. */
beforeEach(() => vi.stubEnv('TZ', 'Asia/Tokyo'));
afterEach(() => vi.unstubAllEnvs());

const now = new Date('2026-11-21T10:00:00Z');

test.each([
  ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21T10:00:00', '2026-11-21T10:00:00.000Z'],
  ['2026-11-21 10:00:00.123', '2026-11-21T10:00:00.123Z'],
  ['2026-11-21T10:00+02:00', '2026-11-21T08:00:00.000Z'],
  ['2026-11-21', '2026-11-21T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2h', '2026-11-21T08:00:00.000Z'],
])('%s is %s, wherever it is asked', (text, time) => {
  expect(askedTime(text, now)?.toISOString()).toBe(time);
});

test.each([
  '2026-02-30',
  '2026-02-29T10:00:00Z',
  '2026-13-01',
  '2026-11-21T25:00Z',
  '2026-11-21x',
  '2026-11',
  '',
])('%s is no time', (text) => {
  expect(askedTime(text, now)).toBeUndefined();
});
