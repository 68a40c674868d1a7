import type { Case } from './case.ts';

const type = (value: string | undefined): Case => ({
  name: `Content-Type: ${value ?? '(none)'}`,
  headers: { 'Content-Type': value },
  status: 200,
});
const coding = (value: string): Case => ({
  name: `Content-Encoding: ${value}`,
  headers: { 'Content-Encoding': value },
  status: 200,
});
const refused = (accepted: Case): Case => ({
  ...accepted,
  status: 400,
  error: 1003,
  message: /application\/json/,
});

export const acceptedMediaTypes: readonly Case[] = [
  type('application/json'),
  type('APPLICATION/JSON'),
  type('application/json; charset=utf-8'),
  type('application/json;charset=UTF-8'),
  type('application/json ; charset="utf-8"'),
  type('application/json;'),
  type('application/json; charset=utf-8;'),
  type('application/json\t;\tcharset\t=\t"UTF-8"\t;\t'),
  type(`application/json;${' '.repeat(90)}charset=utf-8`),
  coding('identity'),
  coding('Identity'),
];

export const refusedMediaTypes: readonly Case[] = [
  type(undefined),
  type(''),
  type('text/plain'),
  type('text/json'),
  type('application/x-www-form-urlencoded'),
  type('multipart/form-data; boundary=x'),
  type('application/vnd.api+json'),
  type('application/json-patch+json'),
  type('application/jsonp'),
  type('application/json, text/plain'),
  type('application/json; charset=utf-16'),
  type('application/json; charset=iso-8859-1'),
  type('application/json; charset='),
  type('application/json; charset="utf-8'),
  type('application/json; charset=utf-8; charset=utf-8'),
  type('application/json;;'),
  type('application/json;; charset=utf-8'),
  type(`application/json;${' '.repeat(200)}charset=utf-8`),
  type('application/json; version=2'),
  type('*/*'),
  type('application'),
  type('json'),
  coding('gzip'),
  coding('br'),
  coding('identity, gzip'),
  coding('x'),
].map(refused);
