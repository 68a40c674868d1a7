import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { serverVersion } from './server-version.ts';

export type DownloadableServer = 'mongod' | 'redis-server';

/** Per user, shared by all checkouts (XDG Base Directory Specification). */
export function cacheDirectory(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'plant-store');
}

/** An earlier download, if there is one. */
export function downloadedServer(server: DownloadableServer): string | undefined {
  const path = join(cacheDirectory(), server);
  return existsSync(path) ? path : undefined;
}

/**
 * Runs a download in a directory of its own and keeps the one binary it yields. The binary is moved into place in one
 * step and only after it has run, so concurrent starts and broken downloads never show a half-written or useless one.
 * @param download yields the binary's path inside the directory it is given.
 */
export async function keepDownload(
  server: DownloadableServer,
  download: (directory: string) => Promise<string>,
): Promise<string> {
  const cache = cacheDirectory();
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, `${server}-`));
  try {
    const binary = await download(directory);
    chmodSync(binary, 0o755);
    await serverVersion(binary);
    const path = join(cache, server);
    renameSync(binary, path);
    return path;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
