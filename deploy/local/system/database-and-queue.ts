import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createMongoClient, hasPrimary } from '@plant-store/platform/mongo';
import type { LocalSecrets } from '../config.ts';
import { serverPorts } from '../data/ports.ts';
import { type Report, serverBinary } from '../servers/binaries/server-binary.ts';
import { ensureMongodPrimary, mongodCommand, mongodUrl } from '../servers/mongod.ts';
import { ensureRedisServes, redisCommand, redisUrl } from '../servers/redis-server.ts';
import { untilResolved } from '../servers/until-resolved.ts';
import { StartError } from '../start-error.ts';
import type { Part } from '../supervisor/supervised-process.ts';
import { inherited } from './services.ts';

const PRIMARY_MS_MAX = 5_000;

export type DatabaseAndQueue = {
  mongodbUrl: string;
  redisUrl: string;
  /** What has to be run for them: nothing where addresses were given. */
  parts: Part[];
};

/**
 * Where database and queue are: at the addresses given, else processes of our own on data in DATA_DIR.
 * @param tell is given a name and what was chosen for it.
 * @throws StartError when a given database has no primary or a server can be had nowhere.
 */
export async function databaseAndQueue(
  { mongodbUrl, redisUrl: givenRedisUrl }: LocalSecrets,
  dataDir: string,
  tell: Report,
): Promise<DatabaseAndQueue> {
  const ports = await serverPorts(dataDir);
  const parts: Part[] = [];

  if (mongodbUrl === undefined) {
    const options = {
      binary: await serverBinary('mongod', tell),
      dataDir: join(dataDir, 'mongod'),
      port: ports.mongod,
    };
    mkdirSync(options.dataDir, { recursive: true });
    const ready = (pid: number) => ensureMongodPrimary(ports.mongod, pid);
    parts.push({ name: 'mongod', ...mongodCommand(options), env: inherited(), stopSignal: 'SIGTERM', ready });
  } else {
    await requirePrimary(mongodbUrl);
    tell('mongod', 'the one MONGODB_URL names');
  }

  if (givenRedisUrl === undefined) {
    const options = {
      binary: await serverBinary('redis-server', tell),
      dataDir: join(dataDir, 'redis'),
      port: ports.redis,
    };
    mkdirSync(options.dataDir, { recursive: true });
    const ready = (pid: number) => ensureRedisServes(ports.redis, pid);
    parts.push({ name: 'redis', ...redisCommand(options), env: inherited(), stopSignal: 'SIGTERM', ready });
  } else {
    tell('redis-server', 'the one REDIS_URL names');
  }

  return {
    mongodbUrl: mongodbUrl ?? mongodUrl(ports.mongod).replace('/?', '/plantstore?'),
    redisUrl: givenRedisUrl ?? redisUrl(ports.redis),
    parts,
  };
}

async function requirePrimary(url: string): Promise<void> {
  const client = createMongoClient(url, 'plant-store-local');
  const hosts = client.options.hosts.join(', ') || client.options.srvHost;
  try {
    const patience = { withinMs: PRIMARY_MS_MAX, what: 'primary' };
    await untilResolved(async () => {
      if (!(await hasPrimary(client))) throw new Error('no primary');
    }, patience);
  } catch {
    throw new StartError(
      `MONGODB_URL: no primary answers at ${hosts} within ${PRIMARY_MS_MAX / 1_000} s: start that database, or unset MONGODB_URL to have one started`,
    );
  } finally {
    await client.close();
  }
}
