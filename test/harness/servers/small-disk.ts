import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { startMongod } from '@plant-store/local/servers/mongod';
import { launch } from '../processes/launch.ts';
import { waitFor } from '../wait-for.ts';
import { testMongodArgs } from './local-servers.ts';
import { type PrivateServer, place, restartable } from './private-servers.ts';

const MOUNTED_MS_MAX = 5_000;
const FILLED_AT_ONCE = 256 * 1024;

/** This machine allows no disk of our own: no Linux, or its user namespaces are switched off. */
export class NoSmallDiskError extends Error {
  override readonly name = 'NoSmallDiskError';
}

export type SmallDiskMongod = PrivateServer & {
  /** Fills the disk to the last byte. */
  fillDisk: () => Promise<void>;
  freeDisk: () => Promise<void>;
};

/**
 * A mongod whose data lies on a disk of so many MB: a tmpfs in a mount namespace of its own, which needs no root. A
 * process that only sleeps keeps the namespace, so that the disk outlives mongod's restarts.
 * @throws NoSmallDiskError
 */
export async function smallDiskMongod(megabytes: number): Promise<SmallDiskMongod> {
  const { dataDir: folder, port } = await place();
  const disk = join(folder, 'disk');
  await mkdir(disk);
  const mount = `mount -t tmpfs -o size=${megabytes}m tmpfs '${disk}' && echo mounted && exec sleep 86400`;
  const holder = launch('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', mount], {
    cwd: folder,
  });
  const release = async () => {
    await holder.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    let hasEnded = false;
    void holder.ended.then(() => {
      hasEnded = true;
    });
    await waitFor(() => holder.stdout().includes('mounted') || hasEnded, {
      withinMs: MOUNTED_MS_MAX,
      what: 'the disk is mounted',
    });
    if (hasEnded) throw new NoSmallDiskError(`no disk can be mounted: ${holder.stderr().trim()}`);

    const binary = join(folder, 'mongod');
    const mongod = await serverBinary('mongod', () => {});
    const enter = `nsenter --target ${holder.pid} --user --mount --preserve-credentials`;
    await writeFile(binary, `#!/bin/sh\nexec ${enter} '${mongod}' "$@"\n`, { mode: 0o700 });
    const options = { binary, dataDir: disk, port, args: testMongodArgs };
    const start = () => startMongod(options);
    const server = restartable(disk, await start(), start);
    const filler = join(`/proc/${holder.pid}/root`, disk, 'filler');
    const close = async () => {
      await server.kill();
      await release();
    };
    return {
      ...server,
      close,
      [Symbol.asyncDispose]: close,
      fillDisk: () => fill(filler),
      freeDisk: () => rm(filler, { force: true }),
    };
  } catch (error) {
    await release();
    throw error;
  }
}

async function fill(filler: string): Promise<void> {
  const block = Buffer.alloc(FILLED_AT_ONCE);
  for (;;) {
    try {
      await writeFile(filler, block, { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}
