import type { Case } from './case.ts';

const key = (value: string, name = value): Case => ({
  name: `Idempotency-Key: ${name}`,
  headers: { 'Idempotency-Key': value },
  status: 200,
});

export const acceptedKeys: readonly Case[] = [
  key('a'),
  key('8e03978e-40d5-43dd-bc93-6894a57f9324'),
  key('"8e03978e-40d5-43dd-bc93-6894a57f9324"'),
  key('k'.repeat(255), '255 characters'),
  key(`"${'k'.repeat(255)}"`, '255 characters in quotes'),
  key(`"${'\\"'.repeat(255)}"`, '255 escaped quotes in quotes'),
  key("!#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 'every visible mark'),
  key('a"b'),
];

const refused = (value: string, name?: string): Case => ({
  ...key(value, name),
  status: 400,
  error: 1005,
  message: /^Idempotency-Key must be/,
});

export const refusedKeys: readonly Case[] = [
  refused('', 'nothing'),
  refused(' \t', 'white space alone'),
  refused('""'),
  refused('k'.repeat(256), '256 characters'),
  refused(`"${'k'.repeat(256)}"`, '256 characters in quotes'),
  refused('a b'),
  refused('"a b"'),
  refused('a\tb'),
  refused('caf\xe9'),
  refused('"'),
  refused('"a'),
  refused('"a"b'),
  refused('"a\\b"'),
  refused('"a\\"'),
  refused('"a";v=1'),
  {
    name: 'Idempotency-Key twice',
    edit: (request) => request.replace('\r\n\r\n', '\r\nIdempotency-Key: a\r\nidempotency-key: a\r\n\r\n'),
    status: 400,
    error: 1005,
  },
];
