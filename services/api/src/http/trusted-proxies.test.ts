import { expect, test } from 'vitest';
import { trustedProxies } from './trusted-proxies.ts';

const trusted = trustedProxies(['127.0.0.1', '10.0.0.0/8', 'fc00::/7', '2001:db8::7']);

test.each(['127.0.0.1', '10.200.3.4', '::ffff:10.1.2.3', 'fd12::1', '2001:db8::7', '2001:DB8:0::7'])(
  '%s is trusted',
  (address) => {
    expect([trusted(address), trusted(address)]).toEqual([true, true]);
  },
);

test.each([
  '127.0.0.2',
  '11.0.0.1',
  '::1',
  '2001:db8::8',
  '::ffff:11.0.0.1',
  '10.0.0',
  'unknown',
  '',
  'x'.repeat(9_000),
])('%s is not', (address) => {
  expect([trusted(address), trusted(address)]).toEqual([false, false]);
});

test('many strangers change no verdict', () => {
  for (let n = 0; n < 5_000; n++) expect(trusted(`192.0.${n >> 8}.${n & 255}`)).toBe(false);
  expect(trusted('10.0.0.1')).toBe(true);
});
