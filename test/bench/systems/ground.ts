import { join } from 'node:path';
import { serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { freePort } from '@plant-store/local/servers/free-port';
import { startMongod } from '@plant-store/local/servers/mongod';
import { startRedis } from '@plant-store/local/servers/redis-server';
import type { ServerProcess } from '@plant-store/local/servers/server-process';
import { createSigner } from 'fast-jwt';
import { Redis } from 'ioredis';
import { type Db, MongoClient } from 'mongodb';
import { createIndexes } from '../../harness/servers/create-indexes.ts';

/** Of every system that runs on it. */
export const QUEUE_PREFIX = '{bench}';
const AUTH_SECRET = 'the-secret-of-a-benchmark-0123456789';
const TOKEN_MS = 4 * 3_600_000;

/** Where systems are measured: one database and one queue server, started as `npm start` does, and emptied in between. */
export type Ground = {
  /** What every system reads from its environment. */
  environment: Record<'MONGODB_URL' | 'REDIS_URL' | 'AUTH_SECRET', string>;
  token: string;
  database: Db;
  pids: () => { mongod: number; redis: number };
  versions: () => Promise<{ mongod: string; redis: string }>;
  empty: () => Promise<void>;
  /** Those of our own system, where no worker is there to make them. */
  createIndexes: () => Promise<void>;
  stopRedis: () => Promise<void>;
  /** Starts it again on the same data, where it does not run. */
  startRedis: () => Promise<void>;
  close: () => Promise<void>;
};

/** @param folder keeps their data. */
export async function prepareGround(
  folder: string,
  say: (server: string, choice: string) => void,
): Promise<Ground> {
  const mongod = await startMongod({
    binary: await serverBinary('mongod', say),
    dataDir: join(folder, 'mongodb'),
    port: await freePort(),
  });
  const redisOptions = {
    binary: await serverBinary('redis-server', say),
    dataDir: join(folder, 'redis'),
    port: await freePort(),
  };
  let redisServer: ServerProcess = await startRedis(redisOptions);
  let redisRuns = true;
  const mongodbUrl = mongod.url.replace('/?', '/bench?');
  const mongo = new MongoClient(mongodbUrl, { appName: 'bench' });
  const redis = new Redis(redisServer.url);
  // While it is stopped on purpose.
  redis.on('error', () => {});

  return {
    environment: { MONGODB_URL: mongodbUrl, REDIS_URL: redisServer.url, AUTH_SECRET },
    token: createSigner({ key: AUTH_SECRET, algorithm: 'HS256', expiresIn: TOKEN_MS })({ sub: 'bench' }),
    database: mongo.db(),
    pids: () => ({ mongod: mongod.pid, redis: redisServer.pid }),
    versions: async () => {
      const { version } = await mongo.db().admin().serverInfo();
      const info = await redis.info('server');
      return { mongod: version, redis: /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown' };
    },
    empty: async () => {
      await mongo.db().dropDatabase();
      await redis.flushall();
      // What was dropped is removed and written now, not during the next system's round.
      await mongo.db('admin').command({ fsync: 1 });
    },
    createIndexes: () => createIndexes(mongo.db()),
    stopRedis: async () => {
      redisRuns = false;
      await redisServer.kill();
    },
    startRedis: async () => {
      if (!redisRuns) redisServer = await startRedis(redisOptions);
      redisRuns = true;
    },
    close: async () => {
      redis.disconnect();
      await mongo.close();
      await Promise.all([mongod.kill(), redisServer.kill()]);
    },
  };
}
