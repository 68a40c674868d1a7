import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createMongoClient, hasPrimary } from '@plant-store/platform/mongo/mongo';
import type { LocalSecrets } from '../config.ts';
import { serverPorts } from '../data/ports.ts';
import { type Report, serverBinary } from '../servers/binaries/server-binary.ts';
import type { DownloadableServer } from '../servers/binaries/server-cache.ts';
import { ensureMongodPrimary, mongodCommand, mongodUrl } from '../servers/mongod.ts';
import { ensureRedisServes, redisCommand, redisUrl } from '../servers/redis-server.ts';
import type { ServerCommand } from '../servers/server-process.ts';
import { untilResolved } from '../servers/until-resolved.ts';
import { StartError } from '../start-error.ts';
import type { Part } from '../supervisor/supervised-process.ts';
import { inherited } from './services.ts';

const PRIMARY_MS_MAX = 5_000;

export type DatabaseAndQueue = {
  mongodbUrl: string;
  redisUrl: string;
  /** The processes to run for them; empty where addresses were given. */
  parts: Part[];
};

/**
 * Where database and queue are: at the addresses given, else processes of our own on data in DATA_DIR.
 * @param tell is given a name and what was chosen for it.
 * @throws StartError when a given database has no primary, or when a server is neither installed nor downloadable.
 */
export async function databaseAndQueue(
  { mongodbUrl, redisUrl: givenRedisUrl }: LocalSecrets,
  dataDir: string,
  tell: Report,
): Promise<DatabaseAndQueue> {
  const ports = await serverPorts(dataDir);
  const parts: Part[] = [];

  if (mongodbUrl === undefined) {
    const mongod = {
      name: 'mongod',
      server: 'mongod',
      command: mongodCommand,
      ready: ensureMongodPrimary,
    } as const;
    parts.push(await ownServer(mongod, ports.mongod, dataDir, tell));
  } else {
    await requirePrimary(mongodbUrl);
    tell('mongod', 'the one MONGODB_URL names');
  }

  if (givenRedisUrl === undefined) {
    const redis = {
      name: 'redis',
      server: 'redis-server',
      command: redisCommand,
      ready: ensureRedisServes,
    } as const;
    parts.push(await ownServer(redis, ports.redis, dataDir, tell));
  } else {
    tell('redis-server', 'the one REDIS_URL names');
  }

  return {
    mongodbUrl: mongodbUrl ?? mongodUrl(ports.mongod).replace('/?', '/plantstore?'),
    redisUrl: givenRedisUrl ?? redisUrl(ports.redis),
    parts,
  };
}

type OwnServer = {
  /** Of the process, and of the directory of its data. */
  name: string;
  server: DownloadableServer;
  command: (options: { binary: string; dataDir: string; port: number }) => ServerCommand;
  ready: (port: number, pid: number) => Promise<void>;
};

async function ownServer(
  { name, server, command, ready }: OwnServer,
  port: number,
  dataDir: string,
  tell: Report,
): Promise<Part> {
  const options = { binary: await serverBinary(server, tell), dataDir: join(dataDir, name), port };
  mkdirSync(options.dataDir, { recursive: true });
  return {
    name,
    ...command(options),
    env: inherited(),
    stopSignal: 'SIGTERM',
    ready: (pid) => ready(port, pid),
  };
}

async function requirePrimary(url: string): Promise<void> {
  const client = createMongoClient(url, 'plant-store-local');
  const hosts = client.options.hosts.join(', ') || client.options.srvHost;
  try {
    const primary = async () => {
      if (!(await hasPrimary(client))) throw new Error('no primary');
    };
    await untilResolved(primary, { withinMs: PRIMARY_MS_MAX, what: 'primary' });
  } catch {
    throw new StartError(
      `MONGODB_URL: no primary answers at ${hosts} within ${PRIMARY_MS_MAX / 1_000} s: start that database, or unset MONGODB_URL to have one started`,
    );
  } finally {
    await client.close();
  }
}
