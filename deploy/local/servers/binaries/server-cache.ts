import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { serverVersion } from './server-version.ts';

export type DownloadableServer = 'mongod' | 'redis-server';

export type DownloadSource = {
  /** In words for a person. */
  name: string;
  /** Names the pinned content: a download of another pin does not count. */
  pin: string;
  /** Downloads into a directory and yields the server's path in it. */
  download: (directory: string) => Promise<string>;
};

/** Per user, shared by all checkouts (XDG Base Directory Specification). */
export function cacheDirectory(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'plant-store');
}

/** An earlier download of what the source pins now, if there is one. */
export function earlierDownload(server: DownloadableServer, { pin }: DownloadSource): string | undefined {
  const path = join(cacheDirectory(), `${server}-${pin}`);
  return existsSync(path) ? path : undefined;
}

/**
 * Downloads a server and replaces earlier versions with it. The binary is moved into place in one step, and only after
 * it has run, so that no start finds a partly written or broken one.
 */
export async function keepDownload(
  server: DownloadableServer,
  { pin, download }: DownloadSource,
): Promise<string> {
  const cache = cacheDirectory();
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'download-'));
  const name = `${server}-${pin}`;
  try {
    const binary = await download(directory);
    chmodSync(binary, 0o755);
    await serverVersion(binary);
    renameSync(binary, join(cache, name));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  for (const other of readdirSync(cache)) {
    const older = other === server || (other.startsWith(`${server}-`) && other !== name);
    if (older) rmSync(join(cache, other), { force: true });
  }
  return join(cache, name);
}
