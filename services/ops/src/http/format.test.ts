import { expect, test } from 'vitest';
import { figure } from './assets/format.js';

test.each([
  [0, '/s', '0/s'],
  [0.04, '/s', '0.04/s'],
  [12_345, '/s', '12.3k/s'],
  [3.14, 'ms', '3.1 ms'],
  [1_234, 'ms', '1.2 s'],
  [150, 's', '2.5 min'],
  [1_234_567, 'plants', '1.23M'],
  [3, 'processes', '3'],
  [null, 's', '–'],
])('%s %s reads %s', (value, unit, text) => {
  expect(figure(value, unit)).toBe(text);
});
