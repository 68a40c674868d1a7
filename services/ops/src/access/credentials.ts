import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Account, User } from './accounts.ts';

/** OWASP Password Storage Cheat Sheet, scrypt: N = 2^14, r = 8, p = 5; 16 MiB and some tenths of a second a try. */
const COST = { N: 2 ** 14, r: 8, p: 5 } as const;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

export type Credentials = {
  /** The user when name and password belong together. Takes the same time whatever is wrong. */
  verify: (name: string, password: string) => Promise<User | undefined>;
  /** Whether a name is a user's: what else people type into a name field may be a password and is not logged. */
  knows: (name: string) => boolean;
};

type Hashed = { user: User | undefined; salt: Buffer; key: Buffer };

/** Keeps only the hashes; the passwords can then be garbage collected. */
export async function createCredentials(accounts: readonly Account[]): Promise<Credentials> {
  const known = new Map<string, Hashed>();
  for (const { name, role, password } of accounts) known.set(name, await hash({ name, role }, password));
  /** Stands in for the account of an unknown name, so that its refusal takes as long; no password has this key. */
  const decoy: Hashed = { user: undefined, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };

  return {
    async verify(name, password) {
      const { user, salt, key } = known.get(name) ?? decoy;
      const matches = timingSafeEqual(await derive(password, salt), key);
      return matches ? user : undefined;
    },
    knows: (name) => known.has(name),
  };
}

async function hash(user: User, password: string): Promise<Hashed> {
  const salt = randomBytes(SALT_BYTES);
  return { user, salt, key: await derive(password, salt) };
}

/** Off the event loop, on libuv's pool, whose size also bounds the memory in use. */
function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, KEY_BYTES, COST, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}
