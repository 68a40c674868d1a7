import type { DownloadSource } from './server-cache.ts';

const VERSION = '8.2.6';

/** MongoDB's own builds, for machines the package index has no wheel for. */
export const mongodbDownload: DownloadSource = {
  name: 'MongoDB',
  pin: VERSION,
  download: async (directory) => {
    try {
      const { MongoBinary } = await import('mongodb-memory-server-core');
      return await MongoBinary.getPath({ version: VERSION, downloadDir: directory });
    } catch (error) {
      throw new Error(`MongoDB's download failed: ${(error as Error).message.split(/, Details:|\n/)[0]}`);
    }
  },
};
