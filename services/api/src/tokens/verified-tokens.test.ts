import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

test('a token keeps nothing of the header that it was cut from', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const verified = verifiedTokens();
  const used = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let n = 0; n < 2_000; n++) {
    const header = Buffer.from(`Bearer${' '.repeat(50_000)}${n}.${'a'.repeat(250)}`).toString('latin1');
    verified.add(/^Bearer +(\S+)$/.exec(header)?.[1] as string, 0, principal, later());
  }
  expect(used() - before).toBeLessThan(20_000_000);
  expect(verified.find(`7.${'a'.repeat(250)}`, 0)).toBe(principal);
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
