import { expect, test } from 'vitest';
import { int64FromJsonNumber } from './plant-id.ts';

test.each([
  ['0', 0n],
  ['-0', 0n],
  ['0.000', 0n],
  ['0e999999999999', 0n],
  ['7e0', 7n],
  ['7e-000', 7n],
  ['-0.0e-7', 0n],
  ['1', 1n],
  ['1.0', 1n],
  ['1e3', 1000n],
  ['1E+3', 1000n],
  ['10e-1', 1n],
  ['1.50e1', 15n],
  ['1e000000000000000000001', 10n],
  ['9007199254740993', 9007199254740993n],
  ['9007199254740993.0', 9007199254740993n],
  ['1e18', 10n ** 18n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['922337203685477580.7e1', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
])('%s is the int64 %s', (literal, value) => {
  expect(int64FromJsonNumber(literal)).toBe(value);
});

test.each([
  '1.5',
  '1.00000000000000001',
  '1e-400',
  '1e-1',
  '1e19',
  '1e999999999999',
  '1e-999999999999',
  '9223372036854775808',
  '-9223372036854775809',
  '922337203685477580.8e1',
  '',
  '+1',
  '0x10',
  'NaN',
  ' 1',
])('%s is no int64', (literal) => {
  expect(int64FromJsonNumber(literal)).toBeUndefined();
});

test('a literal as long as a body may be costs linear time', () => {
  const zeros = '0'.repeat(60_000);
  expect(int64FromJsonNumber(`1${zeros}`)).toBeUndefined();
  expect(int64FromJsonNumber(`${zeros}1${zeros}.${zeros}1`)).toBeUndefined();
  expect(int64FromJsonNumber(`1${zeros}e-60000`)).toBe(1n);
});
