import { expect, test, vi } from 'vitest';

const scrypt = vi.hoisted(() => vi.fn());
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  return { ...crypto, scrypt: scrypt.mockImplementation(crypto.scrypt) };
});
const { createCredentials } = await import('./credentials.ts');
const { hashPassword } = await import('@plant-store/platform/passwords/password-hash');
const { parseAccounts } = await import('./accounts.ts');

test('an unknown name costs the same work as a wrong password, so that time tells neither', async () => {
  const { accounts } = parseAccounts(`vera:viewer:${await hashPassword('looking-glass-house')}`);
  const { verify } = createCredentials(accounts);
  const costs: unknown[][] = [];
  for (const name of ['vera', 'mole']) {
    scrypt.mockClear();
    expect(await verify(name, 'not-the-password')).toBeUndefined();
    costs.push(scrypt.mock.calls.map(([, , keyBytes, cost]) => [keyBytes, cost]));
  }
  expect(costs[0]).toHaveLength(1);
  expect(costs[1]).toEqual(costs[0]);
});
