import { afterEach, expect, test, vi } from 'vitest';
import { verifiedTokens } from './verified-tokens.ts';

const principal = { subject: 's' };
const later = () => Date.now() + 3_600_000;
afterEach(() => vi.useRealTimers());

test('what is remembered is bounded in bytes, the last used are kept', () => {
  const verified = verifiedTokens();
  const tokens = Array.from({ length: 6_000 }, (_, n) => `${n}.`.padEnd(7_000, 'a'));
  for (const token of tokens) {
    verified.add(token, 0, principal, later());
    verified.find(tokens[0] as string, 0);
  }
  const remembered = tokens.filter((token) => verified.find(token, 0) !== undefined);
  expect(remembered.length * 7_000).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(remembered.length).toBeGreaterThan(500);
  expect(remembered).toContain(tokens[0]);
  expect(remembered).toContain(tokens.at(-1));
});

test('a token is forgotten when it expires, after a minute, and with the keys that verified it', () => {
  vi.useFakeTimers();
  const verified = verifiedTokens();
  verified.add('short', 0, principal, Date.now() + 1_000);
  verified.add('long', 0, principal, later());
  expect(verified.find('short', 0)).toBe(principal);
  expect(verified.find('long', 1)).toBeUndefined();
  vi.advanceTimersByTime(1_000);
  expect(verified.find('short', 0)).toBeUndefined();
  vi.advanceTimersByTime(58_999);
  expect(verified.find('long', 0)).toBe(principal);
  vi.advanceTimersByTime(1);
  expect(verified.find('long', 0)).toBeUndefined();
});
