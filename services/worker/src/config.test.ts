import { createPublicKey, type KeyObject } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateAnchorKey, readPublicKeys } from '@plant-store/audit/ledger/anchor-keys';
import { expect, test } from 'vitest';
import { readWorkerConfig } from './config.ts';

const required = { MONGODB_URL: 'mongodb://db/plants', REDIS_URL: 'redis://queue', INSTANCE: 'worker-1' };

test('without settings of its own a worker has the documented defaults', () => {
  expect(readWorkerConfig(required)).toEqual({
    config: {
      instance: 'worker-1',
      logLevel: 'info',
      internal: { host: '127.0.0.1', port: 0 },
      jobs: { queuePrefix: '{plantstore}', concurrency: 64 },
      relay: { intervalMs: 2_000, ageMs: 5_000 },
      tracing: { endpoint: undefined, ratio: 1 },
      auditing: { chains: 4 },
      anchoring: { intervalMs: 60_000 },
    },
    secrets: { mongodbUrl: 'mongodb://db/plants', redisUrl: 'redis://queue' },
  });
});

test('every fault is named in one message, and no secret is in it', () => {
  const faulty = {
    MONGODB_URL: 'mongodb://user:hush@db',
    WORKER_CONCURRENCY: '0',
    RELAY_AGE_MS: 'soon',
    AUDIT_CHAINS: '65',
    AUDIT_ANCHOR_KEY: 'hush, no key',
  };
  const read = () => readWorkerConfig(faulty);
  for (const name of ['REDIS_URL', 'WORKER_CONCURRENCY', 'RELAY_AGE_MS', 'AUDIT_CHAINS', 'AUDIT_ANCHOR_KEY'])
    expect(read).toThrow(name);
  expect(read).not.toThrow('hush');
});

test.each([
  [0o600, undefined],
  [0o440, undefined],
  [0o644, /AUDIT_ANCHOR_KEY_FILE: every user may read the key .*mode 644.*chmod 600/],
  [0o660, /AUDIT_ANCHOR_KEY_FILE: .*mode 660/],
])('a key file of mode %o is accepted only if others cannot read it', (mode, fault) => {
  const folder = mkdtempSync(join(tmpdir(), 'configuration-'));
  try {
    const file = join(folder, 'key.pem');
    const { privateKey, publicKey } = generateAnchorKey();
    writeFileSync(file, privateKey);
    chmodSync(file, mode);
    const read = () => readWorkerConfig({ ...required, AUDIT_ANCHOR_KEY_FILE: file });
    if (fault === undefined)
      expect([...readPublicKeys(publicKey).keys()]).toEqual([read().secrets.anchorKey?.id]);
    else expect(read).toThrow(fault);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the key may be the 32 bytes in hexadecimal digits, as in a settings file', () => {
  // The first key of RFC 8032, section 7.1.
  const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
  const { secrets } = readWorkerConfig({ ...required, AUDIT_ANCHOR_KEY: seed });
  const publicKey = createPublicKey(secrets.anchorKey?.privateKey as KeyObject).export({ format: 'jwk' })
    .x as string;
  expect(Buffer.from(publicKey, 'base64url').toString('hex')).toBe(
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  );
});
