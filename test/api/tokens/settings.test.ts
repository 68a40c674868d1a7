import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { readApiConfig } from '../../../services/api/src/config.ts';
import { TEST_SECRET } from '../../harness/api/tokens.ts';
import { launchService } from '../../harness/processes/program.ts';

const addresses = { MONGODB_URL: 'mongodb://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' };
const read = (environment: Record<string, string>) => readApiConfig({ ...addresses, ...environment });

const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }) as string;
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1_024 });
const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2_048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
const ed448 = generateKeyPairSync('ed448');
const x25519 = generateKeyPairSync('x25519');

test.each([
  ['no source', {}, /no key source: set exactly one of AUTH_SECRET, AUTH_PUBLIC_KEY, AUTH_JWKS_URL/],
  ['an empty secret', { AUTH_SECRET: '' }, /no key source/],
  [
    'a secret of 31 bytes',
    { AUTH_SECRET: TEST_SECRET.slice(0, 31) },
    /AUTH_SECRET has 31 bytes: use at least 32/,
  ],
  ['a secret of one letter', { AUTH_SECRET: 'a'.repeat(64) }, /AUTH_SECRET repeats a few characters/],
  ['a secret of two letters', { AUTH_SECRET: 'ab'.repeat(32) }, /AUTH_SECRET repeats a few characters/],
  ['a public key as the secret', { AUTH_SECRET: spki(rsa.publicKey) }, /AUTH_SECRET holds a PEM key/],
  [
    'RSA of 1,024 bits',
    { AUTH_PUBLIC_KEY: spki(weakRsa.publicKey) },
    /AUTH_PUBLIC_KEY is an RSA key of 1024 bits/,
  ],
  ['RSA for PSS alone', { AUTH_PUBLIC_KEY: spki(pss.publicKey) }, /AUTH_PUBLIC_KEY is of the kind rsa-pss/],
  [
    'P-384',
    { AUTH_PUBLIC_KEY: spki(p384.publicKey) },
    /AUTH_PUBLIC_KEY is on the curve secp384r1: use P-256/,
  ],
  ['secp256k1', { AUTH_PUBLIC_KEY: spki(secp256k1.publicKey) }, /AUTH_PUBLIC_KEY is on the curve secp256k1/],
  ['Ed448', { AUTH_PUBLIC_KEY: spki(ed448.publicKey) }, /AUTH_PUBLIC_KEY is of the kind ed448/],
  ['X25519', { AUTH_PUBLIC_KEY: spki(x25519.publicKey) }, /AUTH_PUBLIC_KEY is of the kind x25519/],
  ['a private key', { AUTH_PUBLIC_KEY: pkcs8(p256.privateKey) }, /AUTH_PUBLIC_KEY holds a private key/],
  [
    'a private key behind the public one',
    { AUTH_PUBLIC_KEY: spki(p256.publicKey) + pkcs8(p256.privateKey) },
    /AUTH_PUBLIC_KEY holds a private key/,
  ],
  ['no PEM', { AUTH_PUBLIC_KEY: 'key' }, /AUTH_PUBLIC_KEY is no public key in PEM/],
  [
    'half a PEM',
    { AUTH_PUBLIC_KEY: spki(p256.publicKey).slice(0, 60) },
    /AUTH_PUBLIC_KEY is no public key in PEM/,
  ],
  ['a secret as the public key', { AUTH_PUBLIC_KEY: TEST_SECRET }, /AUTH_PUBLIC_KEY is no public key in PEM/],
  ['http', { AUTH_JWKS_URL: 'http://issuer.test/jwks' }, /AUTH_JWKS_URL must be https/],
  [
    'http to a name like localhost',
    { AUTH_JWKS_URL: 'http://localhost.test/' },
    /AUTH_JWKS_URL must be https/,
  ],
  ['a file', { AUTH_JWKS_URL: 'file:///etc/jwks' }, /AUTH_JWKS_URL must be https/],
  ['no URL', { AUTH_JWKS_URL: 'issuer' }, /AUTH_JWKS_URL is no URL/],
  [
    'a password in the URL',
    { AUTH_JWKS_URL: 'https://a:b@issuer.test/' },
    /must not hold a user or password/,
  ],
  [
    'two sources',
    { AUTH_SECRET: TEST_SECRET, AUTH_JWKS_URL: 'https://issuer.test' },
    /AUTH_SECRET and AUTH_JWKS_URL contradict/,
  ],
  [
    'a tolerance of 31 s',
    { AUTH_SECRET: TEST_SECRET, AUTH_CLOCK_TOLERANCE_S: '31' },
    /AUTH_CLOCK_TOLERANCE_S: must be a whole number from 0 to 30/,
  ],
  [
    'a cache without age',
    { AUTH_JWKS_URL: 'https://issuer.test', AUTH_JWKS_CACHE_S: '0' },
    /AUTH_JWKS_CACHE_S: must be/,
  ],
])('%s is refused at start, by name', (_, environment, fault) => {
  expect(() => read(environment as Record<string, string>)).toThrow(fault);
});

test.each([
  ['a secret of 32 bytes', { AUTH_SECRET: TEST_SECRET.slice(0, 32) }, ['HS256']],
  ['RSA of 2,048 bits', { AUTH_PUBLIC_KEY: spki(rsa.publicKey) }, ['RS256', 'PS256']],
  ['P-256', { AUTH_PUBLIC_KEY: spki(p256.publicKey) }, ['ES256']],
  [
    'a key with its line ends escaped',
    { AUTH_PUBLIC_KEY: spki(p256.publicKey).replaceAll('\n', '\\n') },
    ['ES256'],
  ],
  ['https', { AUTH_JWKS_URL: 'https://issuer.test/jwks' }, ['RS256', 'PS256', 'ES256', 'EdDSA']],
  ['http on this machine', { AUTH_JWKS_URL: 'http://127.0.0.1:1/' }, ['RS256', 'PS256', 'ES256', 'EdDSA']],
])('%s is taken, and fixes the algorithms', (_, environment, algorithms) => {
  expect(read(environment as Record<string, string>).config.tokens.keys.algorithms).toEqual(algorithms);
});

test('the configuration holds no secret', () => {
  const { config } = read({ AUTH_SECRET: TEST_SECRET, MONGODB_URL: 'mongodb://user:hunter2@127.0.0.1' });
  expect(JSON.stringify(config)).not.toMatch(/hunter2|quick brown fox/);
});

test('a process says all that is wrong in one line, without the secrets, and exits with 1', async () => {
  const environment = {
    MONGODB_URL: 'mongodb://user:hunter2@127.0.0.1',
    REDIS_URL: '',
    AUTH_SECRET: 'too short a secret',
    AUTH_PUBLIC_KEY: spki(p384.publicKey),
    AUTH_CLOCK_TOLERANCE_S: '60',
    TRUSTED_PROXIES: 'gateway',
    PORT: '70000',
  };
  const { code, stderr } = await launchService('api', environment).ended;
  expect(code).toBe(1);
  const [, complaint] = /^(api: .*)\n$/.exec(stderr) ?? [];
  expect(complaint?.split('; ')).toEqual([
    'api: configuration: REDIS_URL is required',
    expect.stringMatching(/^PORT: /),
    expect.stringMatching(/^TRUSTED_PROXIES: gateway /),
    expect.stringMatching(/^AUTH_CLOCK_TOLERANCE_S: /),
    expect.stringMatching(/^AUTH_SECRET and AUTH_PUBLIC_KEY contradict /),
    expect.stringMatching(/^AUTH_SECRET has 18 bytes/),
    expect.stringMatching(/^AUTH_PUBLIC_KEY is on the curve /),
  ]);
  expect(complaint).not.toMatch(/hunter2|too short a secret|BEGIN/);
});
