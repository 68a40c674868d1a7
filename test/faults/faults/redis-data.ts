import { cp, mkdtemp, open, readdir, rm, stat, symlink, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { launch } from '../../harness/processes/launch.ts';
import type { PrivateServer } from '../../harness/servers/private-servers.ts';
import type { System } from '../system/system.ts';

const CUT_BYTES = 37;

/** Copies Redis' files while it writes them, as a snapshot of a disk does, and brings that copy back later. */
export async function snapshot({ dataDir }: PrivateServer): Promise<{ restore: () => Promise<void> }> {
  const copy = await mkdtemp(join(tmpdir(), 'redis-snapshot-'));
  await cp(dataDir, copy, { recursive: true });
  return {
    restore: async () => {
      await rm(dataDir, { recursive: true });
      await cp(copy, dataDir, { recursive: true });
      await rm(copy, { recursive: true });
    },
  };
}

/** The append-only file that grows: of Redis 7 the incremental one, of 6.2 the only one. */
async function appendOnlyFile({ dataDir }: PrivateServer): Promise<{ path: string; bytes: number }> {
  const names = await readdir(dataDir, { recursive: true });
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.aof') && !name.includes('.base.'))
      .map(async (name) => ({ path: join(dataDir, name), bytes: (await stat(join(dataDir, name))).size })),
  );
  const [largest] = files.sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined) throw new Error(`there is no append-only file in ${dataDir}`);
  return largest;
}

/** Its last write did not reach the disk whole. */
export async function cutTail(server: PrivateServer): Promise<void> {
  const { path, bytes } = await appendOnlyFile(server);
  await truncate(path, Math.max(0, bytes - CUT_BYTES));
}

/** @param part where: 0 is the beginning, 1 the end */
export async function flipByte(server: PrivateServer, part: number): Promise<void> {
  const { path, bytes } = await appendOnlyFile(server);
  const file = await open(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    const position = Math.floor(bytes * part);
    await file.read(byte, 0, 1, position);
    await file.write(Buffer.from([(byte[0] as number) ^ 0xff]), 0, 1, position);
  } finally {
    await file.close();
  }
}

/**
 * Starts Redis on damaged files as an operator does: where it refuses to, the file is cut before the damage
 * (redis-check-aof --fix), which is the server's own binary under another name.
 */
export async function startDamaged(server: PrivateServer): Promise<'as it was' | 'after repair'> {
  try {
    await server.start();
    return 'as it was';
  } catch {
    const folder = await mkdtemp(join(tmpdir(), 'redis-check-'));
    const tool = join(folder, 'redis-check-aof');
    await symlink(await serverBinary('redis-server', () => {}), tool);
    const { path } = await appendOnlyFile(server);
    const answer = `yes | '${tool}' --fix '${path}'`;
    const { code, stderr } = await launch('sh', ['-c', answer]).ended;
    await rm(folder, { recursive: true });
    if (code !== 0) throw new Error(`redis-check-aof cannot repair ${path}: ${stderr}`);
    await server.start();
    return 'after repair';
  }
}

/** Lets Redis have so many bytes more than it uses; without a number as many as it wants. */
export async function limitMemory({ redis }: System, more?: number): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory', more === undefined ? '0' : String(used + more));
}

/** What BullMQ keeps of the queue, by what is lost of it alone. */
export const queueParts: Readonly<Record<string, (system: System) => Promise<void>>> = {
  'the list of waiting jobs': async ({ redis, queue }) => void (await redis.del(queue.toKey('wait'))),
  'the list of active jobs': async ({ redis, queue }) => void (await redis.del(queue.toKey('active'))),
  'the data of all waiting jobs': async ({ redis, queue }) => {
    const ids = await redis.lrange(queue.toKey('wait'), '0', '-1');
    if (ids.length > 0) await redis.del(...ids.map((id) => queue.toKey(id)));
  },
  'the meta hash': async ({ redis, queue }) => void (await redis.del(queue.toKey('meta'))),
  'the marker that wakes workers': async ({ redis, queue }) => void (await redis.del(queue.toKey('marker'))),
  'the list entry of one job': async ({ redis, queue }) => {
    await redis.lpop(queue.toKey('wait'));
  },
  'the data of one job': async ({ redis, queue }) => {
    const [id] = await redis.lrange(queue.toKey('wait'), '0', '0');
    if (id !== undefined) await redis.del(queue.toKey(id));
  },
};
