import { expect, test } from 'vitest';
import { reasonOf } from './reason.ts';

test.each<[string, unknown, string]>([
  ['an error', new Error('no route'), 'no route'],
  ['an error without a message', new TypeError(), 'TypeError'],
  ['a connection tried at two addresses', new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
  ['a text', 'gone', 'gone'],
  ['an object that is no error', { code: 7 }, '{ code: 7 }'],
  ['nothing', undefined, 'undefined'],
  ['an error of several lines', new Error('first\n  second\r\nthird'), 'first second third'],
  ['a long text', 'x'.repeat(501), 'x'.repeat(500)],
  [
    'a long list of addresses',
    new AggregateError([new Error('x'.repeat(500)), new Error('b')]),
    'x'.repeat(500),
  ],
])('the reason of %s says something', (_what, error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});
