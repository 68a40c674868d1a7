import { createHmac } from 'node:crypto';
import { inSeconds, TEST_SECRET, type TokenParts, token, unsigned } from '../../harness/api/tokens.ts';
import type { Case } from './case.ts';

const header = (name: string, value: string | undefined): Case => ({
  name,
  headers: { Authorization: value },
  status: 200,
});
const bearing = (name: string, accessToken: string) => header(name, `Bearer ${accessToken}`);
const ok = (name: string, parts: TokenParts) => bearing(name, token(parts));

/** For AUTH_SECRET alone, with a clock tolerance of 0 s. */
export const acceptedTokens: readonly Case[] = [
  header('the scheme in small letters', `bearer ${token()}`),
  header('the scheme in capitals', `BEARER ${token()}`),
  header('several spaces behind the scheme', `Bearer   ${token()}`),
  header('spaces behind the token', `Bearer ${token()}  `),
  ok('no typ', { header: { typ: undefined } }),
  ok('typ at+jwt', { header: { typ: 'at+jwt' } }),
  ok('a key id, where there is one key', { header: { kid: 'any' } }),
  ok('nbf in the past', { claims: { nbf: inSeconds(-10) } }),
  ok('exp with a fraction', { claims: { exp: inSeconds(60) + 0.5 } }),
  ok('an issuer and an audience that nobody asked for', { claims: { iss: 'a', aud: ['b'] } }),
  ok('a subject in any script', { claims: { sub: 'gärtner 🌱\u0000' } }),
  ok('a subject, issuer and token id of 255 characters', {
    claims: { sub: 's'.repeat(255), iss: 'i'.repeat(255), jti: 'j'.repeat(255) },
  }),
  ok('iat with a fraction', { claims: { iat: inSeconds(-10) + 0.5 } }),
  ok('claims of every type beside', { claims: { iat: 1, jti: 'j', roles: ['a'], deep: { er: null } } }),
];

const missing = (name: string, value: string | undefined): Case => ({
  ...header(name, value),
  status: 401,
  error: 2000,
});

export const missingTokens: readonly Case[] = [
  missing('no Authorization', undefined),
  missing('an empty Authorization', ''),
  missing('Basic', 'Basic Z2FyZGVuZXI6c2VjcmV0'),
  missing('a scheme without a token', 'Bearer'),
  missing('a scheme and a space', 'Bearer '),
  missing('a token without a scheme', token()),
  missing('a token behind another scheme', `Token ${token()}`),
  missing('no space behind the scheme', `Bearer${token()}`),
  missing('a tab behind the scheme', `Bearer\t${token()}`),
  missing('two tokens', `Bearer ${token()} ${token()}`),
  missing('two schemes in one header', `Basic eDp5, Bearer ${token()}`),
  missing('a token in quotes', `Bearer "${token()}"`),
  { ...missing('a token in the query', undefined), target: `/plants?access_token=${token()}` },
  {
    ...missing('a token in a cookie', undefined),
    edit: (request) => request.replace('\r\n\r\n', `\r\nCookie: token=${token()}\r\n\r\n`),
  },
];

const rejected = (name: string, accessToken: string): Case => ({
  ...bearing(name, accessToken),
  status: 401,
  error: 2001,
  message: /^the access token is not valid: obtain a new one$/,
});
const claiming = (name: string, claims: Record<string, unknown>) => rejected(name, token({ claims }));

const [head = '', claims = '', signature = ''] = token().split('.');
const later = inSeconds(3_600);

/** Signed with the right secret, whatever is said in it. */
function signed(input: string, hash = 'sha256'): string {
  return `${input}.${createHmac(hash, TEST_SECRET).update(input).digest('base64url')}`;
}
const text = (json: string) => Buffer.from(json).toString('base64url');

export const rejectedTokens: readonly Case[] = [
  rejected('one word', 'letmein'),
  rejected('two parts', `${head}.${claims}`),
  rejected('four parts', `${token()}.x`),
  rejected('five parts, as if encrypted', `${head}.${claims}.${claims}.${claims}.${signature}`),
  rejected('empty parts', '..'),
  rejected('another secret', token({ key: 'another secret, which is long enough as well' })),
  rejected('an empty secret', token({ key: '' })),
  rejected('no signature', `${head}.${claims}.`),
  rejected('a signature cut short', `${head}.${claims}.${signature.slice(0, -4)}`),
  rejected('a signature with a tail', `${head}.${claims}.${signature}AAAA`),
  rejected(
    'a signature of another token',
    `${head}.${claims}.${token({ claims: { sub: 'x' } }).split('.')[2]}`,
  ),
  rejected(
    'other claims under the signature',
    `${unsigned({ alg: 'HS256' }, { sub: 'root', exp: later })}.${signature}`,
  ),
  rejected('padding', `${head}.${claims}.${signature}=`),
  rejected('alg none without a signature', `${unsigned({ alg: 'none' }, { sub: 'a', exp: later })}.`),
  rejected('alg none with a signature', signed(unsigned({ alg: 'none' }, { sub: 'a', exp: later }))),
  rejected('alg nOnE', `${unsigned({ alg: 'nOnE' }, { sub: 'a', exp: later })}.`),
  rejected('alg empty', signed(unsigned({ alg: '' }, { sub: 'a', exp: later }))),
  rejected('no alg', signed(unsigned({ typ: 'JWT' }, { sub: 'a', exp: later }))),
  rejected('alg as a list', signed(unsigned({ alg: ['HS256'] }, { sub: 'a', exp: later }))),
  rejected('HS384', signed(unsigned({ alg: 'HS384' }, { sub: 'a', exp: later }), 'sha384')),
  rejected('HS512', signed(unsigned({ alg: 'HS512' }, { sub: 'a', exp: later }), 'sha512')),
  rejected('RS256 in name, HMAC in fact', signed(unsigned({ alg: 'RS256' }, { sub: 'a', exp: later }))),
  rejected('an extension it calls critical', token({ header: { crit: ['b64'], b64: false } })),
  rejected('an unknown critical extension', token({ header: { crit: ['exp'], exp: 1 } })),
  rejected('a header that is no JSON', signed(`${text('{alg:HS256}')}.${claims}`)),
  rejected('a header that is a list', signed(`${text('["HS256"]')}.${claims}`)),
  rejected('claims that are no JSON', signed(`${head}.${text('sub=a')}`)),
  rejected('claims that are a list', signed(`${head}.${text('["sub","exp"]')}`)),
  rejected('claims that are a string', signed(`${head}.${text('"sub exp"')}`)),
  rejected('claims that are null', signed(`${head}.${text('null')}`)),
  rejected('no claims', signed(`${head}.${text('{}')}`)),
  rejected('claims in the prototype', signed(`${head}.${text(`{"__proto__":{"sub":"a","exp":${later}}}`)}`)),
  claiming('no exp', { exp: undefined }),
  claiming('exp in the past', { exp: inSeconds(-1) }),
  claiming('exp 0', { exp: 0 }),
  claiming('exp below 0', { exp: -1 }),
  claiming('exp null', { exp: null }),
  claiming('exp as a string', { exp: String(later) }),
  claiming('exp as a list', { exp: [later] }),
  claiming('exp true', { exp: true }),
  claiming('nbf in the future', { nbf: inSeconds(60) }),
  claiming('nbf as a string', { nbf: '0' }),
  claiming('no sub', { sub: undefined }),
  claiming('an empty sub', { sub: '' }),
  claiming('sub null', { sub: null }),
  claiming('sub as a number', { sub: 7 }),
  claiming('sub as a list', { sub: ['gardener'] }),
  claiming('sub as an object', { sub: { $ne: '' } }),
  claiming('sub of 256 characters', { sub: 's'.repeat(256) }),
  claiming('iss of 256 characters', { iss: 'i'.repeat(256) }),
  claiming('jti of 256 characters', { jti: 'j'.repeat(256) }),
  claiming('iss as a number', { iss: 7 }),
  claiming('iss as a list', { iss: ['issuer'] }),
  claiming('iss null', { iss: null }),
  claiming('jti as a number', { jti: 7 }),
  claiming('jti as an object', { jti: {} }),
  claiming('jti null', { jti: null }),
  claiming('iat as a string', { iat: '0' }),
  claiming('iat null', { iat: null }),
  claiming('exp in milliseconds', { exp: later * 1_000 }),
  rejected('exp that never comes', signed(`${head}.${text('{"sub":"a","exp":1e999}')}`)),
  rejected('iat that never was', signed(`${head}.${text(`{"sub":"a","exp":${later},"iat":-1e999}`)}`)),
];
