import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  accountEntries,
  hashPassword,
  isPassword,
  PASSWORD_CHARACTERS_MIN,
  readPasswordHash,
} from '@plant-store/platform/passwords/password-hash';
import { files, randomText, readOrCreate, replaceFile } from './data-directory.ts';

/** Who may sign in to the operators' console. The password is known unless OPS_USERS was given with its hash. */
export type OpsUser = { name: string; password?: string; role: string };

const PASSWORD_BYTES = 12;

/**
 * The users given (as OPS_USERS; on this machine passwords may stand there in clear), else one per role whose passwords
 * were generated at the first start. In the setting for the console, every password is hashed.
 */
export async function opsUsers(
  givenUsers: string | undefined,
  dataDir: string,
): Promise<{ setting: string; users: OpsUser[] }> {
  const list =
    givenUsers ??
    readOrCreate(join(dataDir, files.opsUsers), () =>
      ['operator', 'viewer'].map((role) => `${role}:${role}:${randomText(PASSWORD_BYTES)}`).join(','),
    );
  const known = knownHashes(dataDir);
  const entries = await Promise.all(accountEntries(list).map((entry) => hashedEntry(entry, known)));
  replaceFile(
    join(dataDir, files.opsHashes),
    `${JSON.stringify(Object.fromEntries(entries.map(({ user, hash }) => [user.name, hash])))}\n`,
  );
  return { setting: entries.map(({ setting }) => setting).join(','), users: entries.map(({ user }) => user) };
}

type Entry = { setting: string; user: OpsUser; hash?: string };

/** What is no entry with a usable password in clear is left as it is: the console judges it. */
async function hashedEntry(entry: string, known: Readonly<Record<string, string>>): Promise<Entry> {
  const [name = '', role = '', ...rest] = entry.split(':');
  const secret = rest.join(':');
  if (secret.startsWith('$')) return { setting: entry, user: { name, role } };
  if (secret.length < PASSWORD_CHARACTERS_MIN)
    return { setting: entry, user: { name, role, password: secret } };
  const hash = await hashOf(secret, known[name]);
  return { setting: `${name}:${role}:${hash}`, user: { name, password: secret, role }, hash };
}

/** The hash of the last start where it fits: sessions of the console end when a hash changes. */
async function hashOf(password: string, before: string | undefined): Promise<string> {
  const hash = before === undefined ? undefined : readPasswordHash(before);
  return hash && (await isPassword(password, hash)) ? (before as string) : hashPassword(password);
}

function knownHashes(dataDir: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(join(dataDir, files.opsHashes), 'utf8'));
  } catch {
    return {};
  }
}
