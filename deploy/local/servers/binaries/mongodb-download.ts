import { type DownloadableServer, keepDownload } from './server-cache.ts';

/** MongoDB's own builds, for machines the package index has no wheel for; the version is the library's. */
export async function downloadFromMongodb(
  server: DownloadableServer,
  tell: (source: string) => void,
): Promise<string> {
  tell('MongoDB');
  try {
    const { MongoBinary } = await import('mongodb-memory-server-core');
    return await keepDownload(server, (directory) => MongoBinary.getPath({ downloadDir: directory }));
  } catch (error) {
    throw new Error(`MongoDB's download failed: ${(error as Error).message.split(/, Details:|\n/)[0]}`);
  }
}
