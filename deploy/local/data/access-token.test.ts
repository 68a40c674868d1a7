import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accessToken, keepTokenSource } from './access-token.ts';

const secret = 'a-secret-of-this-test-that-is-long-enough';
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'plant-store-token-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

test('a token carries what the API was configured to require', async () => {
  keepTokenSource(dataDir, {
    secret,
    issuer: 'https://issuer.example',
    audience: 'plants',
    scope: 'plants:create',
  });
  const token = await accessToken(dataDir, { sub: 'someone', ttl: '90s' });
  const { payload, protectedHeader } = await jwtVerify(token, Buffer.from(secret), {
    issuer: 'https://issuer.example',
    audience: 'plants',
  });
  expect(protectedHeader.alg).toBe('HS256');
  expect(payload).toMatchObject({
    sub: 'someone',
    scope: 'plants:create',
    exp: (payload.iat as number) + 90,
  });
});

test('a scope that is asked for replaces the configured one', async () => {
  keepTokenSource(dataDir, { secret, scope: 'plants:create' });
  const token = await accessToken(dataDir, { sub: 'someone', ttl: '1h', scope: 'plants:read' });
  expect((await jwtVerify(token, Buffer.from(secret))).payload['scope']).toBe('plants:read');
});

test.each(['soon', '1', '-1h', '1h from now'])('a lifetime of "%s" is refused in words', async (ttl) => {
  keepTokenSource(dataDir, { secret });
  await expect(accessToken(dataDir, { sub: 'someone', ttl })).rejects.toThrow(
    `--ttl ${ttl}: give a number and a unit`,
  );
});

test.each(['AUTH_PUBLIC_KEY', 'AUTH_JWKS_URL'] as const)(
  'tokens verified by %s cannot be made here',
  async (source) => {
    keepTokenSource(dataDir, { foreignSource: source });
    await expect(accessToken(dataDir, { sub: 'someone', ttl: '1h' })).rejects.toThrow(
      `the API verifies tokens by ${source}: obtain one from its issuer`,
    );
  },
);

test('without a running system it says what to do', async () => {
  await expect(accessToken(dataDir, { sub: 'someone', ttl: '1h' })).rejects.toThrow(
    /nothing runs on DATA_DIR .*"npm start" first/,
  );
});
