import type { Case } from './case.ts';

const ok = (literal: string): Case => ({
  name: `id ${literal.length > 40 ? `${literal.slice(0, 37)}…` : literal}`,
  body: `{"id":${literal},"name":"Monstera"}`,
  status: 200,
});

/** Every value once, since an id is unique for ever. */
export const acceptedIds: readonly Case[] = [
  ok('1'),
  ok('2.0'),
  ok('3e0'),
  ok('4E+1'),
  ok('5e+3'),
  ok('6.5e1'),
  ok('70000e-3'),
  ok('0.0000008e7'),
  ok('-9'),
  ok('-0'),
  ok('0.10e2'),
  ok('9007199254740991'),
  ok('9007199254740993'),
  ok('9007199254740995.0'),
  ok('-9007199254740993'),
  ok('1e18'),
  ok('9223372036854775807'),
  ok('-9223372036854775808'),
  ok('922337203685477580.6e1'),
  ok('9.22337203685477580500e18'),
  ok(`11${'0'.repeat(60_000)}e-60000`),
  ok(`12.${'0'.repeat(60_000)}`),
  ok('1e0000000000000000000000000002'),
];

/** Zero in spellings whose exponent must cost nothing; the id 0 exists by then. */
export const zeros: readonly Case[] = [
  '0',
  '0.0',
  '0e999999999',
  '-0.0e-999999999',
  '0E+99999999999999999999',
].map((literal) => ({ ...ok(literal), name: `id ${literal} is 0, which exists`, status: 400, error: 1008 }));

const refused = (literal: string, name = `id ${literal}`): Case => ({
  name,
  body: `{"id":${literal},"name":"Monstera"}`,
  status: 400,
  error: 1001,
  message: /^id must be an integer from -9223372036854775808 to 9223372036854775807/,
});

export const refusedIds: readonly Case[] = [
  refused('1.5'),
  refused('-0.5'),
  refused('1.00000000000000001'),
  refused('9007199254740993.1'),
  refused('1e-1'),
  refused('1e-400'),
  refused('-1e-400'),
  refused('1e19'),
  refused('1e999999999'),
  refused('1e-999999999'),
  refused('-1e99999999999999999999'),
  refused('9223372036854775808'),
  refused('-9223372036854775809'),
  refused('9223372036854775807.5'),
  refused('9223372036854775808.0'),
  refused('18446744073709551616'),
  refused('9'.repeat(60_000), 'id of 60,000 digits'),
  refused(`1.${'0'.repeat(60_000)}1`, 'id with 60,000 zeros before its fraction'),
  refused('"1"'),
  refused('""'),
  refused('true'),
  refused('false'),
  refused('null'),
  refused('[1]'),
  refused('{}'),
  refused('{"$numberLong":"1"}'),
];
