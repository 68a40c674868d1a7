import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ApiUnderTest, apiUnderTest } from '../../harness/api/api.ts';
import { issuerKey } from '../../harness/api/jwks-issuer.ts';
import { freshId, postPlant } from '../../harness/api/post-plant.ts';
import {
  inSeconds,
  type SigningAlgorithm,
  type TokenParts,
  token,
  unsigned,
} from '../../harness/api/tokens.ts';

const status = async (api: ApiUnderTest, accessToken: string) => {
  const { status, body } = await postPlant(api.url, { id: freshId(), name: 'a' }, { accessToken });
  return body.error ?? status;
};

const kinds = {
  RSA: { ...issuerKey('rsa', 'RS256'), algorithms: ['RS256', 'PS256'] },
  'P-256': { ...issuerKey('ec', 'ES256'), algorithms: ['ES256'] },
  Ed25519: { ...issuerKey('ed', 'EdDSA'), algorithms: ['EdDSA'] },
} as const;

describe.each(Object.entries(kinds))(
  'AUTH_PUBLIC_KEY of the kind %s',
  (kind, { publicKey, signing, algorithms }) => {
    const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const api = apiUnderTest({ AUTH_SECRET: '', AUTH_PUBLIC_KEY: pem });
    const sign = (parts: TokenParts) => token({ ...signing, ...parts });

    test.each(algorithms)('takes %s', async (alg) => {
      expect(await status(api, sign({ alg }))).toBe(200);
    });

    test('takes no other algorithm, whatever the token says and however it is signed', async () => {
      const input = (alg: string) => unsigned({ alg, typ: 'JWT' }, { sub: 'root', exp: inSeconds(3_600) });
      const confused = ['HS256', 'HS384', 'HS512', ...algorithms].flatMap((alg) =>
        [pem, pem.trim(), publicKey.export({ type: 'spki', format: 'der' })].map((key) => {
          const hash = `sha${/\d+$/.exec(alg)?.[0] ?? '256'}`;
          return `${input(alg)}.${createHmac(hash, key).update(input(alg)).digest('base64url')}`;
        }),
      );
      for (const forged of confused) expect(await status(api, forged)).toBe(2001);
      for (const alg of ['none', 'None', 'HS256', ...algorithms]) {
        expect(await status(api, `${input(alg)}.`)).toBe(2001);
      }
    });

    test('takes no token of another key, kind of key or algorithm', async () => {
      const others = Object.entries(kinds).filter(([other]) => other !== kind);
      for (const [, other] of others) expect(await status(api, token(other.signing))).toBe(2001);
      const same = { RSA: 'RS256', 'P-256': 'ES256', Ed25519: 'EdDSA' } as const;
      expect(await status(api, token(issuerKey('other', same[kind as keyof typeof same]).signing))).toBe(
        2001,
      );

      const misnamed = (['RS256', 'PS256', 'ES256', 'EdDSA'] as const satisfies SigningAlgorithm[]).filter(
        (alg) => !(algorithms as readonly string[]).includes(alg),
      );
      for (const alg of misnamed) expect(await status(api, sign({ header: { alg } }))).toBe(2001);
    });

    test('the header names no key: jwk, jku, x5u, x5c and kid are ignored', async () => {
      const attacker = issuerKey('attacker', 'ES256');
      const address = 'http://127.0.0.1:9/attacker.json';
      const header = { jwk: attacker.jwk, jku: address, x5u: address, x5c: ['AAAA'], kid: '../../dev/null' };
      expect(await status(api, token({ ...attacker.signing, header }))).toBe(2001);
      expect(await status(api, sign({ header }))).toBe(200);
    });

    test('exp and sub are required', async () => {
      for (const missing of [{ exp: undefined }, { sub: undefined }, { exp: inSeconds(-60) }]) {
        expect(await status(api, sign({ claims: missing }))).toBe(2001);
      }
    });
  },
);
