import type { Case } from './case.ts';

const NESTING = 30_000;

const ok = (name: string, body: string | Buffer): Case => ({ name, body, status: 200 });
const unknown = (field: string, json = '1') =>
  ok(`an unknown field ${field}`, `{"id":ID,"name":"a",${JSON.stringify(field)}:${json}}`);

export const acceptedJson: readonly Case[] = [
  ok('white space of every kind JSON knows', ' \t\r\n{ "id" :\tID\r\n, "name"\n:"a" } \n'),
  ok('fields in another order', '{"tag":"t","name":"a","id":ID}'),
  ok('keys spelt with escapes', '{"\\u0069d":ID,"n\\u0061me":"a"}'),
  ok('a key twice in a nested object', '{"id":ID,"name":"a","x":{"id":1,"id":2}}'),
  ok('keys that differ in case alone', '{"id":ID,"name":"a","ID":1,"Name":2}'),
  ok('braces, quotes and commas in strings', '{"name":"}\\",{\\"id\\":1","x":"\\\\","id":ID}'),
  ok('30,000 arrays in each other in an unknown field', deep('[', ']', NESTING)),
  ok('6,000 objects in each other in an unknown field', deep('{"a":', '}', 6_000, '1')),
  ok(
    '2,000 unknown fields',
    `{${Array.from({ length: 2_000 }, (_, n) => `"f${n}":${n}`)},"id":ID,"name":"a"}`,
  ),
  ok('numbers beyond all bounds in unknown fields', '{"id":ID,"name":"a","x":1e999999,"y":-0}'),
  unknown('__proto__', '{"polluted":true}'),
  unknown('constructor', '{"prototype":{"polluted":true}}'),
  unknown('prototype', '{}'),
  unknown('_id'),
  unknown('$set', '{"name":"b"}'),
  unknown('toString'),
  unknown('hasOwnProperty', 'null'),
  unknown('toJSON'),
  unknown(''),
  unknown('a.b'),
  unknown('\u0000'),
  unknown('commit', '"000000000000000000000000"'),
  unknown('pending', 'false'),
  unknown('by', '{"sub":"someone else"}'),
];

const refused = (name: string, body: string | Buffer, message?: RegExp): Case => ({
  name,
  body,
  status: 400,
  error: 1000,
  ...(message && { message }),
});

export const refusedJson: readonly Case[] = [
  refused('nothing at all', '', /empty/),
  refused('white space alone', ' \r\n\t', /empty/),
  refused('a key twice', '{"id":ID,"id":2,"name":"a"}', /twice/),
  refused('a key twice with the same value', '{"id":ID,"name":"a","name":"a"}', /twice/),
  refused('a key twice, once spelt with an escape', '{"id":ID,"\\u0069d":2,"name":"a"}', /twice/),
  refused('an unknown key twice', '{"id":ID,"name":"a","x":1,"x":1}', /twice/),
  refused('__proto__ twice', '{"id":ID,"name":"a","__proto__":1,"__proto__":1}', /twice/),
  refused('a byte order mark', '\ufeff{"id":ID,"name":"a"}', /byte order mark/),
  refused('UTF-16', Buffer.from('{"id":1,"name":"a"}', 'utf16le')),
  refused('a byte that is no UTF-8', latin1('{"id":1,"name":"\xff"}'), /UTF-8/),
  refused('Latin-1', latin1('{"id":1,"name":"caf\xe9"}'), /UTF-8/),
  refused('an overlong encoding', latin1('{"id":1,"name":"\xc0\x80"}'), /UTF-8/),
  refused('a surrogate in UTF-8', latin1('{"id":1,"name":"\xed\xa0\x80"}'), /UTF-8/),
  refused('a code point past U+10FFFF', latin1('{"id":1,"name":"\xf4\x90\x80\x80"}'), /UTF-8/),
  refused('UTF-8 cut in a character', latin1('{"id":1,"name":"\xf0\x9f\x8c'), /UTF-8/),
  refused('text behind', '{"id":ID,"name":"a"}x'),
  refused('two values', '{"id":ID,"name":"a"}{"id":2,"name":"a"}'),
  refused('a NUL behind', '{"id":ID,"name":"a"}\u0000'),
  refused('half of it', '{"id":ID,"name":'),
  refused('a comma too many', '{"id":ID,"name":"a",}'),
  refused('single quotes', "{'id':1,'name':'a'}"),
  refused('keys without quotes', '{id:1,name:"a"}'),
  refused('a comment', '{"id":ID,/* */"name":"a"}'),
  refused('a raw control character in a string', '{"id":ID,"name":"a\nb"}'),
  refused('a raw NUL in a string', '{"id":ID,"name":"a\u0000b"}'),
  refused('an escape that is none', '{"id":ID,"name":"\\x41"}'),
  refused('an escape cut short', '{"id":ID,"name":"\\u00e"}'),
  refused('no-break space between', '{"id":ID,\u00a0"name":"a"}'),
  refused('a form', 'id=1&name=a'),
  refused('XML', '<plant><id>1</id></plant>'),
  ...['01', '+1', '.5', '1.', '0x1', '1e', '1_000', 'NaN', 'Infinity', '-Infinity', '-', '1n', '١'].map(
    (literal) => refused(`a number spelt ${literal}`, `{"id":${literal},"name":"a"}`),
  ),
];

function deep(open: string, close: string, levels: number, innermost = ''): string {
  return `{"id":ID,"name":"a","x":${open.repeat(levels)}${innermost}${close.repeat(levels)}}`;
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
