import {
  accountEntries,
  type PasswordHash,
  readPasswordHash,
} from '@plant-store/platform/passwords/password-hash';

/** What a signed-in person may do: a viewer sees, an operator also acts. */
export const ROLES = ['viewer', 'operator'] as const;
type Role = (typeof ROLES)[number];

export type User = { name: string; role: Role };

export type Account = User & {
  password: PasswordHash;
  /** The hash as configured. It is a secret that only this service has, and it changes with the password. */
  phc: string;
};

export const USER_NAME = /^[\w.@-]{1,64}$/;
const HOW = '"npm run ops -- password" prints the entry with its hash';

/**
 * Reads `name:role:hash` entries, separated by commas; a hash is a PHC string of scrypt. Faults name an entry by its
 * place, since any part of a malformed one may be a password.
 */
export function parseAccounts(list: string): { accounts: Account[]; faults: string[] } {
  if (list.trim() === '') {
    return {
      accounts: [],
      faults: [`OPS_USERS names nobody: give name:role:hash, separated by commas; ${HOW}`],
    };
  }
  const accounts: Account[] = [];
  const faults: string[] = [];
  for (const [index, entry] of accountEntries(list).entries()) {
    const [name = '', role = '', ...rest] = entry.split(':');
    const phc = rest.join(':');
    const password = readPasswordHash(phc);
    const fault =
      entry === '' ? 'it is empty: a comma too many' : accountFault({ name, role, phc, password }, accounts);
    if (fault !== undefined) faults.push(`OPS_USERS entry ${index + 1}: ${fault}`);
    else accounts.push({ name, role: role as Role, password: password as PasswordHash, phc });
  }
  // A refusal takes as long as a hash: different costs would tell which names exist.
  if (new Set(accounts.map(({ password: { ln, r, p, key } }) => [ln, r, p, key.length].join())).size > 1)
    faults.push(
      `OPS_USERS: the hashes have different costs, which would tell names apart: make all anew; ${HOW}`,
    );
  return { accounts, faults };
}

function accountFault(
  {
    name,
    role,
    phc,
    password,
  }: { name: string; role: string; phc: string; password: PasswordHash | undefined },
  earlier: readonly Account[],
): string | undefined {
  if (!USER_NAME.test(name)) return 'the name must be 1 to 64 letters, digits or any of . _ @ -';
  if (!ROLES.some((known) => known === role)) return `the role must be ${ROLES.join(' or ')}`;
  if (!phc.startsWith('$')) return `the password must not stand there in clear: ${HOW}`;
  if (password === undefined) return `the hash is none of scrypt ($scrypt$…), or a weak one: ${HOW}`;
  if (earlier.some((account) => account.name === name)) return 'the name was given before';
  return undefined;
}
