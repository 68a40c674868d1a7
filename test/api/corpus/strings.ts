import type { Case } from './case.ts';

const named = (what: string, json: string): Case => ({
  name: `name: ${what}`,
  body: `{"id":ID,"name":${json}}`,
  status: 200,
});
const tagged = (what: string, json: string): Case => ({
  name: `tag: ${what}`,
  body: `{"id":ID,"name":"Monstera","tag":${json}}`,
  status: 200,
});

export const acceptedStrings: readonly Case[] = [
  named('empty', '""'),
  named('a NUL', '"a\\u0000b"'),
  named('control characters, escaped', '"\\u0001\\b\\f\\n\\r\\t\\u001f\\u007f"'),
  named('escapes', '"\\"\\\\\\/\\u00e9"'),
  named('an emoji', '"🌱"'),
  named('an emoji as an escaped surrogate pair', '"\\ud83c\\udf31"'),
  named('combining characters, not normalised', '"e\\u0301"'),
  named('right-to-left and zero-width characters', '"\\u202e\\u200d\\ufeff"'),
  named('noncharacters', '"\\uffff\\ufdd0"'),
  named('line and paragraph separators', '"\u2028\u2029"'),
  named('60 KiB', `"${'a'.repeat(60 * 1024)}"`),
  named('60 KiB of emoji', `"${'🌱'.repeat(15 * 1024)}"`),
  named('a number in quotes', '"42"'),
  named('markup', '"<script>alert(1)</script>"'),
  named('an operator of the database', '"$where"'),
  tagged('empty', '""'),
  tagged('a NUL', '"\\u0000"'),
  tagged('with spaces', '"  "'),
];

const refused = (name: string, body: string, message: RegExp): Case => ({
  name,
  body,
  status: 400,
  error: 1001,
  message,
});
const wrongName = (what: string, json: string, message: RegExp) =>
  refused(`name: ${what}`, `{"id":ID,"name":${json}}`, message);
const wrongTag = (what: string, json: string, message: RegExp) =>
  refused(`tag: ${what}`, `{"id":ID,"name":"Monstera","tag":${json}}`, message);

export const refusedStrings: readonly Case[] = [
  wrongName('a lone high surrogate, escaped', '"a\\ud800b"', /^name must be Unicode text/),
  wrongName('a lone low surrogate, escaped', '"\\udc00"', /^name must be Unicode text/),
  wrongName('surrogates the wrong way round', '"\\udf31\\ud83c"', /^name must be Unicode text/),
  wrongTag('a lone surrogate', '"\\ud83c"', /^tag must be Unicode text/),
  wrongName('null', 'null', /^name must be a string/),
  wrongName('a number', '1', /^name must be a string/),
  wrongName('a boolean', 'true', /^name must be a string/),
  wrongName('an array', '["a"]', /^name must be a string/),
  wrongName('an object', '{"$ne":1}', /^name must be a string/),
  wrongTag('null', 'null', /^tag must be a string/),
  wrongTag('a number', '7', /^tag must be a string/),
  wrongTag('an array', '[]', /^tag must be a string/),
  refused('no id', '{"name":"a"}', /^id is required/),
  refused('no name', '{"id":ID}', /^name is required/),
  refused('nothing in it', '{}', /is required/),
  refused('names are case-sensitive', '{"ID":1,"Name":"a"}', /is required/),
  refused('an array', '[{"id":ID,"name":"a"}]', /^the body must be a JSON object/),
  refused('a string', '"plant"', /^the body must be a JSON object/),
  refused('a number', '1', /^the body must be a JSON object/),
  refused('true', 'true', /^the body must be a JSON object/),
  refused('null', 'null', /^the body must be a JSON object/),
  refused('fields of the prototype alone', '{"__proto__":{"id":1,"name":"a"}}', /is required/),
];
