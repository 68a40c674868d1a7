import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../start-error.ts';

/** Names in DATA_DIR. Everything of one local system lies there, readable by its owner alone. */
export const files = {
  lock: 'lock',
  processes: 'processes.json',
  run: 'run.json',
  prometheusTargets: 'prometheus-targets.json',
  token: 'token.json',
  authSecret: 'auth-secret',
  anchorKey: 'anchor-key.pem',
  anchorPublicKey: 'anchor-key.pub.pem',
  anchors: 'anchors.jsonl',
  opsUsers: 'ops-users',
  opsHashes: 'ops-hashes.json',
  ports: 'ports.json',
} as const;

/** @throws StartError when it cannot be written. */
export function openDataDirectory(path: string): string {
  const directory = resolve(path);
  try {
    makeDirectory(join(directory, 'logs'));
    const probe = join(directory, `.probe-${process.pid}`);
    writeFileSync(probe, '');
    rmSync(probe);
    return directory;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `DATA_DIR ${directory} cannot be written (${code}): set DATA_DIR to a directory that can`,
    );
  }
}

/** Creates parents too. Node's recursive mkdir never returns where the system answers ENOENT, as in /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  if (!existsSync(dirname(path))) makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** Replaces a file in one step, so that a reader sees the old or the new one; mode 600. */
export function replaceFile(path: string, content: string): void {
  const next = `${path}.${process.pid}`;
  writeFileSync(next, content, { mode: 0o600 });
  renameSync(next, path);
}

/** The content that an earlier start wrote to the file; without one, new content is written. Mode 600. */
export function readOrCreate(path: string, make: () => string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    const value = make();
    replaceFile(path, `${value}\n`);
    return value;
  }
}

/** As many random bytes in characters that need no quoting anywhere. */
export function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
