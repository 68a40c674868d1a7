import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import {
  type IssuerKey,
  issuerKey,
  type JwksIssuer,
  jwksIssuer,
} from '../../../../test/harness/api/jwks-issuer.ts';
import { waitFor } from '../../../../test/harness/wait-for.ts';
import { type JwksKeys, jwksKeys } from './jwks.ts';

const first = issuerKey('first');
const second = issuerKey('second', 'RS256');

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

type KeySet = JwksKeys & {
  issuer: JwksIssuer;
  /** The result of each fetch: undefined, or why it failed. */
  outcomes: unknown[];
  /** Moves the clock that limits fetches for unknown keys. */
  pass: (seconds: number) => void;
};

async function keySetOf(issuer: JwksIssuer, cacheMs = 300_000): Promise<KeySet> {
  let clock = 0;
  const outcomes: unknown[] = [];
  const keys = jwksKeys({
    url: issuer.url,
    cacheMs,
    now: () => clock,
    onFetch: (failure) => outcomes.push(failure),
  });
  opened.push(issuer, { [Symbol.asyncDispose]: async () => keys.close() });
  await waitFor(() => outcomes.length > 0, { withinMs: 5_000, what: 'the first fetch is over' });
  const pass = (seconds: number) => {
    clock += seconds * 1_000;
  };
  return { ...keys, issuer, outcomes, pass };
}

const pemOf = ({ publicKey }: IssuerKey) => publicKey.export({ type: 'spki', format: 'pem' });

test('one fetch serves every token of the published keys', async () => {
  const keys = await keySetOf(await jwksIssuer(first, second));
  for (let times = 0; times < 100; times++) {
    expect(await keys.find('first')).toEqual({ pem: pemOf(first), algorithms: ['ES256'] });
    expect(await keys.find('second')).toEqual({ pem: pemOf(second), algorithms: ['RS256'] });
  }
  expect(keys.issuer.fetches).toBe(1);
});

test('unknown key ids cause one fetch in 30 s, however many there are and whoever sends them', async () => {
  const keys = await keySetOf(await jwksIssuer(first));
  const storm = () => Promise.all(Array.from({ length: 200 }, (_, n) => keys.find(`unknown ${n}`)));
  expect(new Set(await storm())).toEqual(new Set(['unknown']));
  expect(new Set(await storm())).toEqual(new Set(['unknown']));
  expect(keys.issuer.fetches).toBe(2);

  keys.pass(29.9);
  await storm();
  expect(keys.issuer.fetches).toBe(2);
  keys.pass(0.1);
  await storm();
  expect(keys.issuer.fetches).toBe(3);
});

test('a new key is found with its first token, beside the old one', async () => {
  const keys = await keySetOf(await jwksIssuer(first));
  keys.issuer.publish(first, second);
  expect(await keys.find('second')).toMatchObject({ pem: pemOf(second) });
  expect(await keys.find('first')).toMatchObject({ pem: pemOf(first) });
});

test('a key that is no longer published is gone once the cache age has passed', async () => {
  const keys = await keySetOf(await jwksIssuer(first), 200);
  keys.issuer.publish(second);
  expect(await keys.find('first')).toMatchObject({ pem: pemOf(first) });
  await waitFor(() => keys.issuer.fetches >= 2 && keys.outcomes.length >= 2, {
    withinMs: 5_000,
    what: 'a refresh',
  });
  expect(await keys.find('first')).toBe('unknown');
  expect(await keys.find('second')).toMatchObject({ pem: pemOf(second) });
});

test('a slow issuer holds up no token of a known key, and others not for ever', async () => {
  const keys = await keySetOf(await jwksIssuer(first));
  keys.issuer.answer(() => {});
  const unknown = keys.find('unknown');
  const known = keys.find('first');
  expect(await Promise.race([unknown, known])).toMatchObject({ pem: pemOf(first) });
  expect(await unknown).toBe('unknown');
  expect(keys.outcomes).toEqual([undefined, expect.any(Error)]);
});

test('keys are served while the issuer is down', async () => {
  const keys = await keySetOf(await jwksIssuer(first), 50);
  await keys.issuer.close();
  await waitFor(() => keys.outcomes.at(-1) instanceof Error, { withinMs: 5_000, what: 'a failed fetch' });
  expect(await keys.find('first')).toMatchObject({ pem: pemOf(first) });
  expect(await keys.find('second')).toBe('unknown');
});

test('an issuer that never answered makes no key unknown', async () => {
  const issuer = await jwksIssuer(first);
  await issuer.close();
  const keys = await keySetOf(issuer);
  expect(await keys.find('first')).toBe('unavailable');
});

test('no redirect is followed', async () => {
  const elsewhere = await jwksIssuer(second);
  const issuer = await jwksIssuer();
  issuer.answer((response) => response.writeHead(302, { location: elsewhere.url }).end());
  opened.push(elsewhere);
  const keys = await keySetOf(issuer);
  expect(keys.outcomes).toEqual([expect.any(Error)]);
  expect(await keys.find('second')).toBe('unavailable');
  expect(elsewhere.fetches).toBe(0);
});

const many = JSON.stringify({ keys: Array.from({ length: 101 }, (_, n) => ({ ...first.jwk, kid: `${n}` })) });

function* endless() {
  for (;;) yield ' '.repeat(65_536);
}

test.each<[string, Parameters<JwksIssuer['answer']>[0]]>([
  [
    'over 512 KiB',
    (response) => response.end(JSON.stringify({ keys: [first.jwk], pad: ' '.repeat(600_000) })),
  ],
  ['over 100 keys', (response) => response.end(many)],
  ['without an end', (response) => void Readable.from(endless()).pipe(response)],
  ['cut short', (response) => response.writeHead(200, { 'content-length': '1000' }).end('{"keys":[')],
  ['that is no JSON', (response) => response.end('<html>')],
  ['that is null', (response) => response.end('null')],
  ['without keys', (response) => response.end('{"keys":{}}')],
  ['with another status', (response) => response.writeHead(404).end(JSON.stringify({ keys: [first.jwk] }))],
])('an answer %s changes nothing', async (_, respond) => {
  const keys = await keySetOf(await jwksIssuer(first));
  keys.issuer.answer(respond);
  expect(await keys.find('unknown')).toBe('unknown');
  expect(keys.outcomes).toEqual([undefined, expect.any(Error)]);
  expect(await keys.find('first')).toMatchObject({ pem: pemOf(first) });
});

test('keys that are weak, of another use or kind, or without an id are left out, and no others', async () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
  const published = [
    { ...weak, kid: 'weak' },
    { ...p384, kid: 'p384' },
    { kty: 'oct', k: 'c2VjcmV0', kid: 'oct' },
    { ...first.jwk, kid: 'encrypts', use: 'enc' },
    { ...first.jwk, kid: 'wraps', key_ops: ['wrapKey'] },
    { ...first.jwk, kid: 'misnamed', alg: 'RS256' },
    { ...first.jwk, kid: 7 },
    { ...first.jwk, kid: undefined },
    { kid: 'empty' },
    null,
    'key',
    { ...first.jwk, kid: 'good', key_ops: ['verify'] },
  ];
  const issuer = await jwksIssuer();
  issuer.answer((response) => response.end(JSON.stringify({ keys: published })));
  const keys = await keySetOf(issuer);
  const left = ['weak', 'p384', 'oct', 'encrypts', 'wraps', 'misnamed', '7', 'undefined', 'empty'];
  for (const kid of left) expect(await keys.find(kid)).toBe('unknown');
  expect(await keys.find('good')).toMatchObject({ algorithms: ['ES256'] });
});

test('once closed it asks no more', async () => {
  const keys = await keySetOf(await jwksIssuer(first), 50);
  keys.close();
  const { fetches } = keys.issuer;
  expect(await keys.find('unknown')).toBe('unknown');
  await waitFor(() => keys.outcomes.length >= 2, { withinMs: 5_000, what: 'the refused fetch' });
  expect(keys.issuer.fetches).toBe(fetches);
});
