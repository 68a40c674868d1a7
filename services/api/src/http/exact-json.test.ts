import { expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { parseExactJson } from './exact-json.ts';

const parse = (text: string) => parseExactJson(Buffer.from(text));
const refusal = (body: Buffer) => {
  try {
    parseExactJson(body);
  } catch (error) {
    return error instanceof ApiError ? error.error : error;
  }
  return undefined;
};

test.each([
  ['the ordinary shape', '{"id":42,"name":"a","tag":"b"}', { id: 42n, name: 'a', tag: 'b' }],
  ['without a tag', ' { "id" : -7 , "name" : "" } ', { id: -7n, name: '' }],
  ['another order', '{"name":"a","id":42}', { id: 42n, name: 'a' }],
  ['past 2^53', '{"id":9007199254740993,"name":"a"}', { id: 9007199254740993n, name: 'a' }],
  [
    '16 digits that a double would round',
    '{"id":9999999999999999,"name":"a"}',
    { id: 9999999999999999n, name: 'a' },
  ],
  ['an exponent', '{"id":1e3,"name":"a"}', { id: 1000n, name: 'a' }],
  ['an escaped key', '{"\\u0069d":9007199254740993,"name":"a"}', { id: 9007199254740993n, name: 'a' }],
  ['escapes in a name', '{"id":1,"name":"a\\"}\\\\"}', { id: 1n, name: 'a"}\\' }],
  [
    'an id of a nested object left alone',
    '{"id":1,"name":"a","x":{"id":2.5}}',
    { id: 1n, name: 'a', x: { id: 2.5 } },
  ],
  ['braces in strings', '{"x":"}],{","id":5,"name":"[{"}', { x: '}],{', id: 5n, name: '[{' }],
  ['one key twice further in', '{"x":{"a":1,"a":2},"id":5,"name":"a"}', { x: { a: 2 }, id: 5n, name: 'a' }],
  ['minus zero', '{"id":-0,"name":"a"}', { id: 0n, name: 'a' }],
])('%s', (_case, text, value) => {
  expect(parse(text)).toEqual(value);
});

test.each([
  '1.5',
  '1.00000000000000001',
  '1e-400',
  '1e19',
  '9223372036854775808',
  '"1"',
  'true',
  'null',
  '[1]',
])('an id of %s never becomes a bigint', (id) => {
  expect(typeof (parse(`{"id":${id},"name":"a"}`) as { id: unknown }).id).not.toBe('bigint');
});

test.each(['[]', '1', '"id"', 'null', '{}', '[{"id":1,"id":2}]'])(
  '%s is JSON, and left to the schema',
  (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  },
);

test.each([
  ['nothing', Buffer.alloc(0)],
  ['white space', Buffer.from(' \n')],
  ['trailing text', Buffer.from('{"id":1,"name":"a"}x')],
  ['a byte order mark', Buffer.from('\uFEFF{"id":1,"name":"a"}')],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['a leading zero', Buffer.from('{"id":01,"name":"a"}')],
  ['a raw line break in a string', Buffer.from('{"id":1,"name":"a\nb"}')],
  ['one key twice', Buffer.from('{"id":1,"name":"a","id":1}')],
  ['one key twice, once escaped', Buffer.from('{"id":1,"name":"a","\\u0069d":2}')],
  ['one unknown key twice', Buffer.from('{"x":1,"id":1,"name":"a","x":1}')],
])('%s is refused as malformed JSON', (_case, body) => {
  expect(refusal(body)).toBe('malformedJson');
});

test('nesting as deep as a body may be costs no stack', () => {
  const depth = 30_000;
  const text = `{"x":${'['.repeat(depth)}${']'.repeat(depth)},"id":1e0,"name":"a"}`;
  expect((parse(text) as { id: bigint }).id).toBe(1n);
});
