import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import { commonSettings } from '@plant-store/platform/configuration/common-settings';
import { readEnvironment } from '@plant-store/platform/configuration/configuration';
import { createMongoClient, databaseName } from '@plant-store/platform/mongo/mongo';
import { Queue } from 'bullmq';
import { str } from 'envalid';
import { Redis } from 'ioredis';
import type { Db, MongoClient } from 'mongodb';
import { CommandError } from './failures.ts';

/** Longer than in the services: a command reads a lot, and no client waits for it. */
const SOCKET_MS_MAX = 120_000;
const CONNECT_MS_MAX = 5_000;
const REDIS_MS_MAX = 5_000;

const settings = {
  MONGODB_URL: str({ default: undefined }),
  REDIS_URL: str({ default: undefined }),
  QUEUE_PREFIX: commonSettings.QUEUE_PREFIX,
  DATA_DIR: str({ default: '.local' }),
};

export type Addresses = {
  mongodb: string;
  redis: string | undefined;
  queuePrefix: string;
  /** The local system's directory, when the addresses are those of a local system. */
  dataDir: string | undefined;
};

/** @throws CommandError when neither says where the database is. */
export function knownAddresses(): Addresses {
  const env = readEnvironment(process.env, settings);
  const { MONGODB_URL: mongodb, REDIS_URL: redis, QUEUE_PREFIX: queuePrefix } = env;
  if (mongodb !== undefined) return { mongodb, redis, queuePrefix, dataDir: undefined };
  const run = runFile(env.DATA_DIR);
  return { mongodb: run.mongodb, redis: redis ?? run.redis, queuePrefix, dataDir: env.DATA_DIR };
}

function runFile(dataDir: string): { mongodb: string; redis: string } {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8'));
  } catch {
    throw new CommandError(
      `nothing runs on DATA_DIR ${dataDir}: "npm start" first, or set MONGODB_URL to the system that is meant`,
    );
  }
}

export type OpenDatabase = AsyncDisposable & { client: MongoClient; database: Db; addresses: Addresses };

/** @throws CommandError when no primary answers in time. */
export async function openDatabase(): Promise<OpenDatabase> {
  const known = knownAddresses();
  const client = createMongoClient(known.mongodb, 'plant-store-ops-command', {
    socketTimeoutMS: SOCKET_MS_MAX,
    serverSelectionTimeoutMS: CONNECT_MS_MAX,
    connectTimeoutMS: CONNECT_MS_MAX,
    waitQueueTimeoutMS: CONNECT_MS_MAX,
  });
  try {
    await client.db('admin').command({ ping: 1 });
  } catch {
    await client.close();
    throw new CommandError('the database does not answer: no primary was found');
  }
  return {
    client,
    database: client.db(databaseName(known.mongodb)),
    addresses: known,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export type OpenQueue = AsyncDisposable & { queue: Queue; redis: Redis; prefix: string };

/** The queue on a connection that fails soon. Where Redis is away, or its address unknown, the connection's status says so. */
export async function openQueue({ redis: url, queuePrefix: prefix }: Addresses): Promise<OpenQueue> {
  const redis = new Redis(url ?? 'redis://localhost', {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: REDIS_MS_MAX,
    connectTimeout: REDIS_MS_MAX,
    retryStrategy: null,
  });
  redis.on('error', () => {});
  if (url === undefined) redis.disconnect();
  else await redis.connect().catch(() => {});
  const queue = new Queue(CREATIONS_QUEUE, { connection: redis, prefix, skipVersionCheck: true });
  queue.on('error', () => {});
  return {
    queue,
    redis,
    prefix,
    async [Symbol.asyncDispose]() {
      if (redis.status === 'ready') await queue.close();
      redis.disconnect();
    },
  };
}
