import { expect, test } from 'vitest';
import { slowDown } from './slow-down.ts';

test('a few refused attempts delay nothing, many delay all by up to 2 s, and it is forgotten', () => {
  let now = 0;
  const slow = slowDown(() => now);
  const refuse = (times: number) => Array.from({ length: times }, () => slow.refused());
  refuse(20);
  expect(slow.delayMs()).toBe(0);
  refuse(5);
  expect(slow.delayMs()).toBe(500);
  refuse(100);
  expect(slow.delayMs()).toBe(2_000);
  now = 125 * 3_000;
  expect(slow.delayMs()).toBe(0);
});
