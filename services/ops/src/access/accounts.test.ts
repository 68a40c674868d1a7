import { expect, test } from 'vitest';
import { parseAccounts } from './accounts.ts';

test('accounts are name, role and password; a password may contain colons', () => {
  expect(parseAccounts('olga:operator:a:colon:inside, vera:viewer:twelve-chars')).toEqual({
    accounts: [
      { name: 'olga', role: 'operator', password: 'a:colon:inside' },
      { name: 'vera', role: 'viewer', password: 'twelve-chars' },
    ],
    faults: [],
  });
});

test.each([
  ['no name', ':viewer:twelve-chars', /^OPS_USERS entry 1: the name/],
  ['a name with a space', 'a b:viewer:twelve-chars', /^OPS_USERS entry 1: the name/],
  ['an unknown role', 'olga:root:twelve-chars', /^OPS_USERS entry 1: the role must be viewer or operator/],
  ['a short password', 'olga:operator:eleven-char', /^OPS_USERS entry 1: the password/],
  ['only a password', 'twelve-chars-and-more', /^OPS_USERS entry 1: the role/],
  [
    'a name given twice',
    'a:viewer:twelve-chars,a:operator:other-password',
    /^OPS_USERS entry 2: the name was/,
  ],
  ['nobody', '  ', /^OPS_USERS names nobody/],
  ['a comma at the end', 'olga:operator:twelve-chars,', /^OPS_USERS entry 2: it is empty: a comma too many/],
  ['a comma at the beginning', ',olga:operator:twelve-chars', /^OPS_USERS entry 1: it is empty/],
])('%s is a fault that names the place and no part of the entry', (_what, list, fault) => {
  const { faults } = parseAccounts(list);
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(fault);
  expect(faults[0]).not.toMatch(/twelve-chars|eleven-char|other-password/);
});

test('every faulty entry is named', () => {
  expect(parseAccounts('a:viewer:short,b:root:twelve-chars').faults).toHaveLength(2);
});
