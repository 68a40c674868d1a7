import { expect, test } from 'vitest';
import { age, count } from './figures.ts';

test.each([
  [-5, '0.0 s'],
  [0, '0.0 s'],
  [440, '0.4 s'],
  [12_900, '12 s'],
  [59_999, '59 s'],
  [60_000, '1 min 0 s'],
  [200_000, '3 min 20 s'],
  [3_599_000, '59 min 59 s'],
  [7_500_000, '2 h 5 min'],
  [86_400_000, '1 d 0 h'],
  [273_600_000, '3 d 4 h'],
])('%d ms reads as %s, on one line', (ms, words) => {
  expect(age(ms)).toBe(words.replaceAll(' ', '\u00a0'));
});

test('counts are grouped', () => {
  expect(count(1_234_567)).toBe('1,234,567');
});
