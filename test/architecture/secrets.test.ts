import { generateKeyPairSync } from 'node:crypto';
import { resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Put together here, so that this file holds none. */
const digits = '0123456789'.repeat(4);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const secrets = [
  ['a database address with a password', `mongodb://plantstore:${digits}@db.example.org/plants`],
  ['a private key', privateKey.export({ type: 'pkcs8', format: 'pem' })],
  ['an access token of a code host', `${'ghp'}_${digits.slice(0, 36)}`],
];

test.each(secrets)('npm run check would find %s', async (_what, secret) => {
  const { exitCode, stdout, stderr } = await execa(
    'secretlint',
    ['--stdinFileName', 'settings.ts', '--no-color'],
    { cwd: root, preferLocal: true, input: `const setting = \`${secret}\`;\n`, reject: false },
  );
  expect(stdout + stderr).toContain('found');
  expect(stdout + stderr).not.toContain(digits);
  expect(exitCode).toBe(1);
});
