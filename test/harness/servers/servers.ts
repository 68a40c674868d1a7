import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { afterAll, inject } from 'vitest';
import { TEST_SECRET } from '../api/tokens.ts';
import type { RunServers } from './provided.ts';
import { skipThisFile } from './skip-without-servers.ts';

/**
 * To be called at the top of a test file, outside of hooks and tests, by files that need a real mongod or Redis: on a
 * machine without them the file is skipped. Files that call `testDatabase` or `testQueue` need no call of their own.
 */
export function needsServers(): RunServers {
  const servers = inject('servers');
  if (servers.missing === undefined) return servers;
  skipThisFile();
  return { mongodb: 'mongodb://missing.invalid/', redis: 'redis://missing.invalid' };
}

/** A database of this file alone on the run's mongod (MONGODB_URL), dropped afterwards. Call it at the top of a file. */
export function testDatabase(): { url: string; name: string } {
  const url = new URL(needsServers().mongodb);
  const name = `test-${randomBytes(8).toString('hex')}`;
  url.pathname = `/${name}`;
  afterAll(() => dropDatabase(url.href, name));
  return { url: url.href, name };
}

/** A QUEUE_PREFIX of this file alone on the run's Redis, its keys deleted afterwards. Call it at the top of a file. */
export function testQueue(): { url: string; prefix: string } {
  const url = needsServers().redis;
  const prefix = `{test-${randomBytes(8).toString('hex')}}`;
  afterAll(() => deleteKeys(url, prefix));
  return { url, prefix };
}

/**
 * What a service is started with: a database and a queue of this file alone, unless others are given, and the secret of
 * the tests' tokens. Call it at the top of a file.
 */
export function testEnvironment({
  mongodbUrl = testDatabase().url,
  queue = testQueue(),
}: {
  mongodbUrl?: string;
  queue?: { url: string; prefix: string };
} = {}) {
  return {
    MONGODB_URL: mongodbUrl,
    REDIS_URL: queue.url,
    QUEUE_PREFIX: queue.prefix,
    AUTH_SECRET: TEST_SECRET,
  };
}

async function dropDatabase(url: string, name: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
  try {
    await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}

async function deleteKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url);
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}:*`, count: 1_000 })) {
      if (keys.length > 0) await redis.unlink(...(keys as string[]));
    }
  } finally {
    redis.disconnect();
  }
}
