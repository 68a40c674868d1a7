import { expect, test } from 'vitest';
import { parentAmong } from './tracing.ts';

const trace = (digit: string, flags: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`;
const [a, b, c] = [trace('a', '00'), trace('b', '01'), trace('c', '03')] as const;

test.each([
  ['the first that is recorded', [a, b, c], b, [a, c]],
  ['the first where none is recorded', [a, trace('d', '02')], a, [trace('d', '02')]],
  ['none where there is no context', [], undefined, []],
])('the parent of a step that serves several is %s', (_what, contexts, parent, others) => {
  expect(parentAmong(contexts)).toEqual({ parent, others });
});
