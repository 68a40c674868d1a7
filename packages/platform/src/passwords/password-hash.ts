import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** OWASP Password Storage Cheat Sheet, scrypt: N = 2^14, r = 8, p = 5; 16 MiB and some tenths of a second a try. */
const COST: Cost = { ln: 14, r: 8, p: 5 };
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** A try with the strongest accepted cost takes 256 MiB. */
const LN_MAX = 18;
const R_MAX = 8;
const P_MAX = 16;
const BYTES_MAX = 64;

export const PASSWORD_CHARACTERS_MIN = 12;

/** N = 2^ln. */
type Cost = { ln: number; r: number; p: number };

/** A password as configured: what tells whether another one equals it, and not what it is. */
export type PasswordHash = Cost & { salt: Buffer; key: Buffer };

/** As a PHC string (https://github.com/P-H-C/phc-string-format): `$scrypt$ln=14,r=8,p=5$<salt>$<key>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, { ...COST, salt, key: Buffer.alloc(KEY_BYTES) });
  return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${base64(salt)}$${base64(key)}`;
}

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Undefined when the text is no PHC string of scrypt, weaker than what OWASP asks for, or too costly to be meant. */
export function readPasswordHash(text: string): PasswordHash | undefined {
  const [, ln, r, p, salt = '', key = ''] = PHC.exec(text) ?? [];
  const hash = {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
  return isSound(hash) ? hash : undefined;
}

function isSound({ ln, r, p, salt, key }: PasswordHash): boolean {
  const within = (value: number, min: number, max: number) => value >= min && value <= max;
  return (
    within(ln, COST.ln, LN_MAX) &&
    within(r, COST.r, R_MAX) &&
    within(p, 1, P_MAX) &&
    2 ** ln * p >= 2 ** COST.ln * COST.p &&
    within(salt.length, SALT_BYTES, BYTES_MAX) &&
    within(key.length, KEY_BYTES, BYTES_MAX)
  );
}

export async function isPassword(password: string, hash: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, hash), hash.key);
}

/** The hash of no password, as costly as another one: refusing an unknown name takes as long as a wrong password. */
export function unmatchable(like: PasswordHash): PasswordHash {
  return { ...like, salt: randomBytes(like.salt.length), key: randomBytes(like.key.length) };
}

/**
 * The entries of a list `name:role:hash`, separated by commas or line breaks. The commas within a PHC string, each
 * before a parameter such as `r=8`, separate nothing.
 */
export function accountEntries(list: string): string[] {
  return list.split(/[,\n](?![a-z]{1,9}=)/).map((entry) => entry.trim());
}

/** Off the event loop, on libuv's pool, whose size also bounds the memory in use. */
function derive(password: string, { ln, r, p, salt, key }: PasswordHash): Promise<Buffer> {
  const cost = { N: 2 ** ln, r, p, maxmem: 2 * 128 * 2 ** ln * r };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, key.length, cost, (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    );
  });
}

/** Without padding, as PHC strings want it. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
