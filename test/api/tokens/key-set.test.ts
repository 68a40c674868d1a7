import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../harness/api/api.ts';
import { type IssuerKey, issuerKey, type JwksIssuer, jwksIssuer } from '../../harness/api/jwks-issuer.ts';
import { freshId, postPlant } from '../../harness/api/post-plant.ts';
import { inSeconds, token, unsigned } from '../../harness/api/tokens.ts';
import { testEnvironment } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';

const { AUTH_SECRET: _secret, ...servers } = testEnvironment();
const startWith = (issuer: JwksIssuer, environment: Record<string, string> = {}) =>
  startReplica({
    ...servers,
    AUTH_JWKS_URL: issuer.url,
    ...environment,
  });

const answerOf = async ({ url }: Replica, accessToken: string) => {
  const answer = await postPlant(url, { id: freshId(), name: 'a' }, { accessToken });
  return answer.body.error ?? answer.status;
};

const ecKey = issuerKey('ec', 'ES256');
const rsaKey = issuerKey('rsa', 'RS256');
const pssKey = issuerKey('pss', 'PS256');
const edKey = issuerKey('ed', 'EdDSA');
const pem = ({ publicKey }: IssuerKey) => publicKey.export({ type: 'spki', format: 'pem' }) as string;

describe('with the issuer there', () => {
  let issuer: JwksIssuer;
  let api: Replica;
  beforeAll(async () => {
    issuer = await jwksIssuer(ecKey, rsaKey, pssKey, edKey);
    api = await startWith(issuer);
  });
  afterAll(async () => {
    await api?.close();
    await issuer?.close();
  });

  test.each([ecKey, rsaKey, pssKey, edKey])(
    'takes tokens of every published key ($signing.alg)',
    async ({ signing }) => {
      expect(await answerOf(api, token(signing))).toBe(200);
    },
  );

  test('the scheme and its spaces are read as with the other sources', async () => {
    const headers = { authorization: `bearer   ${token(ecKey.signing)}` };
    expect((await postPlant(api.url, { id: freshId(), name: 'a' }, { headers })).status).toBe(200);
  });

  test('a key serves its own algorithm alone', async () => {
    const as = (key: IssuerKey, alg: 'RS256' | 'PS256') =>
      token({ ...key.signing, alg, header: { ...key.signing.header, alg } });
    expect(await answerOf(api, as(rsaKey, 'PS256'))).toBe(2001);
    expect(await answerOf(api, as(pssKey, 'RS256'))).toBe(2001);
    for (const { signing } of [ecKey, rsaKey, edKey]) {
      for (const alg of ['HS256', 'RS256', 'PS256', 'ES256', 'EdDSA', 'none'].filter(
        (other) => other !== signing.alg,
      )) {
        expect(await answerOf(api, token({ ...signing, header: { ...signing.header, alg } }))).toBe(2001);
      }
    }
  });

  test('a published key is no shared secret, and no signature is none', async () => {
    for (const key of [ecKey, rsaKey, edKey]) {
      const kid = key.jwk['kid'];
      const input = unsigned({ alg: 'HS256', kid }, { sub: 'root', exp: inSeconds(3_600) });
      const forged = createHmac('sha256', pem(key)).update(input).digest('base64url');
      expect(await answerOf(api, `${input}.${forged}`)).toBe(2001);
      expect(
        await answerOf(api, `${unsigned({ alg: 'none', kid }, { sub: 'root', exp: inSeconds(3_600) })}.`),
      ).toBe(2001);
    }
  });

  test.each([undefined, null, 7, '', ['ec'], '__proto__', 'constructor', 'EC', 'nobody'])(
    'the key id %o names no key',
    async (kid) => {
      expect(await answerOf(api, token({ ...ecKey.signing, header: { kid } }))).toBe(2001);
    },
  );

  test('the header names no address: nobody asks there', async () => {
    const attacker = issuerKey('ec', 'ES256');
    const elsewhere = await jwksIssuer(attacker);
    try {
      for (const name of ['jku', 'x5u', 'iss']) {
        const header = { ...attacker.signing.header, [name]: elsewhere.url, jwk: attacker.jwk };
        expect(
          await answerOf(api, token({ ...attacker.signing, header, claims: { iss: elsewhere.url } })),
        ).toBe(2001);
      }
      expect(elsewhere.fetches).toBe(0);
    } finally {
      await elsewhere.close();
    }
  });

  test('exp and sub are required', async () => {
    for (const claims of [{ exp: undefined }, { sub: undefined }, { exp: inSeconds(-60) }]) {
      expect(await answerOf(api, token({ ...ecKey.signing, claims }))).toBe(2001);
    }
  });
});

test('keys rotate: the new one works at once, the old one until it is gone and the cache age has passed', async () => {
  await using issuer = await jwksIssuer(ecKey);
  await using api = await startWith(issuer, { AUTH_JWKS_CACHE_S: '1' });
  const old = token(ecKey.signing);
  expect(await answerOf(api, old)).toBe(200);

  issuer.publish(ecKey, rsaKey);
  expect(await answerOf(api, token(rsaKey.signing))).toBe(200);
  expect(await answerOf(api, old)).toBe(200);

  issuer.publish(rsaKey);
  await waitFor(async () => (await answerOf(api, old)) === 2001, {
    withinMs: 3_000,
    what: 'the old key is refused',
  });
  expect(await answerOf(api, token(rsaKey.signing))).toBe(200);
});

test('with the issuer down or silent, tokens of known keys pass and the health is good', async () => {
  await using issuer = await jwksIssuer(ecKey);
  await using api = await startWith(issuer, { AUTH_JWKS_CACHE_S: '1' });
  expect(await answerOf(api, token(ecKey.signing))).toBe(200);
  const { fetches } = issuer;
  issuer.answer(() => {});
  await waitFor(() => issuer.fetches > fetches, { withinMs: 3_000, what: 'a fetch that hangs' });

  for (let times = 0; times < 20; times++) expect(await answerOf(api, token(ecKey.signing))).toBe(200);
  await issuer.close();
  expect(await answerOf(api, token(ecKey.signing))).toBe(200);
  expect((await fetch(`${api.internalUrl}/readyz`)).status).toBe(200);
});

test('5001 while the issuer has never answered, and creates once it does, with nobody’s help', async () => {
  await using issuer = await jwksIssuer(ecKey);
  issuer.answer((response) => response.writeHead(503).end());
  await using api = await startWith(issuer);
  const refused = await postPlant(
    api.url,
    { id: freshId(), name: 'a' },
    { accessToken: token(ecKey.signing) },
  );
  expect(refused).toMatchObject({ status: 503, body: { error: 5001 } });
  expect(refused.headers.get('retry-after')).toBe('1');

  issuer.publish(ecKey);
  await waitFor(async () => (await answerOf(api, token(ecKey.signing))) === 200, {
    withinMs: 8_000,
    what: 'the key set is fetched again',
  });
});
