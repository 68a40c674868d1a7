import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import { steps } from '../../scripts/check-steps.ts';

const root = resolve(import.meta.dirname, '../..');

/** Put together here, so that this file holds none. */
const digits = '0123456789'.repeat(4);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const secrets = [
  ['a database address with a password', `mongodb://plantstore:${digits}@db.example.org/plants`],
  ['a private key', privateKey.export({ type: 'pkcs8', format: 'pem' })],
  ['an access token of a code host', `${'ghp'}_${digits.slice(0, 36)}`],
] as const;

/** A tree with the settings of this one. */
const tree = mkdtempSync(join(tmpdir(), 'secrets-'));
copyFileSync(join(root, '.secretlintrc.json'), join(tree, '.secretlintrc.json'));
mkdirSync(join(tree, 'services/api'), { recursive: true });
afterAll(() => rmSync(tree, { recursive: true }));

/** Runs the step of `npm run check` on the tree with this in one of its files. */
function check(setting: string) {
  const { args } = steps.find(({ program }) => program === 'secretlint') as (typeof steps)[number];
  writeFileSync(join(tree, 'services/api/settings.ts'), `const setting = \`${setting}\`;\n`);
  const preferLocal = { preferLocal: true, localDir: root };
  return execa('secretlint', [...args, '--no-color'], {
    cwd: tree,
    ...preferLocal,
    all: true,
    reject: false,
  });
}

test.each(secrets)('npm run check finds %s, and does not print it', async (_what, secret) => {
  const { exitCode, all } = await check(`${secret}`);
  expect(all).toContain('settings.ts');
  expect(all).toContain('found');
  expect(all).not.toContain(digits);
  expect(exitCode).toBe(1);
});

test('without a secret the step passes', async () => {
  expect(await check('a plant')).toMatchObject({ exitCode: 0 });
});
