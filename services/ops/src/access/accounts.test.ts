import { expect, test } from 'vitest';
import { parseAccounts } from './accounts.ts';

const SALT = 'abcdefghijklmnopqrstuA';
const HASH = `$scrypt$ln=17,r=8,p=1$${SALT}$${'x'.repeat(42)}A`;

test('accounts are name, role and hash', () => {
  const { accounts, faults } = parseAccounts(`olga:operator:${HASH}, vera:viewer:${HASH}`);
  expect(faults).toEqual([]);
  expect(accounts.map(({ name, role, phc, password: { ln } }) => ({ name, role, phc, ln }))).toEqual([
    { name: 'olga', role: 'operator', phc: HASH, ln: 17 },
    { name: 'vera', role: 'viewer', phc: HASH, ln: 17 },
  ]);
});

test.each([
  ['no name', `:viewer:${HASH}`, /^OPS_USERS entry 1: the name/],
  ['a name with a space', `a b:viewer:${HASH}`, /^OPS_USERS entry 1: the name/],
  ['an unknown role', `olga:root:${HASH}`, /^OPS_USERS entry 1: the role must be viewer or operator/],
  ['a password in clear', 'olga:operator:a:colon:inside', /^OPS_USERS entry 1: the password must not stand/],
  [
    'a weak hash',
    `olga:operator:${HASH.replace('17', '12')}`,
    /^OPS_USERS entry 1: the hash is none of scrypt/,
  ],
  ['only a password', 'twelve-chars-and-more', /^OPS_USERS entry 1: the role/],
  ['a name given twice', `a:viewer:${HASH},a:operator:${HASH}`, /^OPS_USERS entry 2: the name was/],
  ['nobody', '  ', /^OPS_USERS names nobody/],
  ['a comma at the end', `olga:operator:${HASH},`, /^OPS_USERS entry 2: it is empty: a comma too many/],
  ['a comma at the beginning', `,olga:operator:${HASH}`, /^OPS_USERS entry 1: it is empty/],
])('%s is a fault that names the place and no part of the entry', (_what, list, fault) => {
  const { faults } = parseAccounts(list);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(fault);
  expect(faults[0]).not.toMatch(/twelve-chars|colon:inside|abcdefghi|xxxx/);
});

test('hashes of different costs are a fault, since the time of a refusal would tell which names exist', () => {
  const { faults } = parseAccounts(`a:viewer:${HASH},b:operator:${HASH.replace('p=1', 'p=2')}`);
  expect(faults).toEqual([expect.stringMatching(/^OPS_USERS: the hashes have different costs/)]);
});

test('every faulty entry is named', () => {
  expect(parseAccounts(`a:viewer:short,b:root:${HASH}`).faults).toHaveLength(2);
});
