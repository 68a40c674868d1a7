/** What a signed-in person may do: a viewer sees, an operator also acts. */
const ROLES = ['viewer', 'operator'] as const;
type Role = (typeof ROLES)[number];

export type User = { name: string; role: Role };

/** A user with the password as configured; held only until it is hashed. */
export type Account = User & { password: string };

const PASSWORD_LENGTH_MIN = 12;
const NAME = /^[\w.@-]{1,64}$/;

/**
 * Reads `name:role:password` entries, separated by commas; a password may contain colons, not commas.
 * Faults name an entry by its place, since any part of a malformed one may be a password.
 */
export function parseAccounts(list: string): { accounts: Account[]; faults: string[] } {
  if (list.trim() === '') {
    return { accounts: [], faults: ['OPS_USERS names nobody: give name:role:password, separated by commas'] };
  }
  const accounts: Account[] = [];
  const faults: string[] = [];
  for (const [index, entry] of list.split(',').entries()) {
    const [name = '', role = '', ...rest] = entry.trim().split(':');
    const password = rest.join(':');
    const fault =
      entry.trim() === ''
        ? 'it is empty: a comma too many, or a password with a comma in it'
        : accountFault(name, role, password, accounts);
    if (fault === undefined) accounts.push({ name, role: role as Role, password });
    else faults.push(`OPS_USERS entry ${index + 1}: ${fault}`);
  }
  return { accounts, faults };
}

function accountFault(
  name: string,
  role: string,
  password: string,
  earlier: readonly Account[],
): string | undefined {
  if (!NAME.test(name)) return 'the name must be 1 to 64 letters, digits or any of . _ @ -';
  if (!ROLES.some((known) => known === role)) return `the role must be ${ROLES.join(' or ')}`;
  if (password.length < PASSWORD_LENGTH_MIN) {
    return `the password must have at least ${PASSWORD_LENGTH_MIN} characters`;
  }
  if (earlier.some((account) => account.name === name)) return 'the name was given before';
  return undefined;
}
