import { expect, test } from 'vitest';
import { accountEntries, hashPassword, isPassword, readPasswordHash } from './password-hash.ts';

/** Of "correct:horse-battery", made by Python: hashlib.scrypt(n=2**14, r=8, p=5, dklen=32), the salt 0 to 15. */
const FROM_PYTHON =
  '$scrypt$ln=14,r=8,p=5$AAECAwQFBgcICQoLDA0ODw$76ez8AtL5I1GoZouMCALt7AtcUw/erK5XchKx+By3cU';

test('a password matches its hash and no other, and two hashes of it differ', async () => {
  const [first, second] = await Promise.all([hashPassword('é at the shelf'), hashPassword('é at the shelf')]);
  expect(first).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(first).not.toBe(second);
  const hash = readPasswordHash(first);
  if (hash === undefined) throw new Error('it cannot be read');
  expect(await isPassword('é at the shelf', hash)).toBe(true);
  // The same letters, typed with a combining accent.
  expect(await isPassword('e\u0301 at the shelf', hash)).toBe(true);
  expect(await isPassword('e at the shelf', hash)).toBe(false);
});

test('a hash that another program made is understood', async () => {
  const hash = readPasswordHash(FROM_PYTHON);
  expect(hash && (await isPassword('correct:horse-battery', hash))).toBe(true);
});

const SALT = 'A'.repeat(22);
const KEY = 'A'.repeat(43);
test.each([
  ['a password in clear', 'correct:horse-battery'],
  ['another function', `$argon2id$v=19$m=65536,t=3,p=4$${SALT}$${KEY}`],
  ['a cheap one', `$scrypt$ln=14,r=8,p=1$${SALT}$${KEY}`],
  ['one that takes gigabytes', `$scrypt$ln=24,r=8,p=1$${SALT}$${KEY}`],
  ['a short salt', `$scrypt$ln=17,r=8,p=1$AAAA$${KEY}`],
  ['a short key', `$scrypt$ln=17,r=8,p=1$${SALT}$AAAA`],
])('%s is no hash', (_what, text) => {
  expect(readPasswordHash(text)).toBeUndefined();
});

test('the commas of a hash separate no accounts', () => {
  const a = `a:viewer:$scrypt$ln=17,r=8,p=1$${SALT}$${KEY}`;
  const b = `b:operator:$scrypt$ln=14,r=8,p=5$${SALT}$${KEY}`;
  expect(accountEntries(`${a}, ${b}\n${a}`)).toEqual([a, b, a]);
});
