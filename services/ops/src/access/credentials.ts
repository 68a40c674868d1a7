import { isPassword, unmatchable } from '@plant-store/platform/passwords/password-hash';
import type { Account, User } from './accounts.ts';

export type Credentials = {
  /** The user when name and password belong together. Takes the same time whatever is wrong. */
  verify: (name: string, password: string) => Promise<User | undefined>;
  /** Whether a name is a user's: what else people type into a name field may be a password and is not logged. */
  knows: (name: string) => boolean;
};

/** @param accounts at least one */
export function createCredentials(accounts: readonly Account[]): Credentials {
  const known = new Map(accounts.map((account) => [account.name, account]));
  /** Stands in for the account of an unknown name. */
  const decoy = unmatchable((accounts[0] as Account).password);

  return {
    async verify(name, password) {
      const account = known.get(name);
      const matches = await isPassword(password, account?.password ?? decoy);
      return matches && account !== undefined ? { name: account.name, role: account.role } : undefined;
    },
    knows: (name) => known.has(name),
  };
}
