import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { ConfigurationError } from '../configuration/configuration.ts';

/**
 * Every timeout of the driver is well below the 5 s that any caller waits; the defaults are 30 s or no timeout.
 * `retryWrites` is off: with the driver's own retries, an error does not tell whether a write was sent (a lost reply
 * can end in MongoServerSelectionError although the document is stored). Writers resolve outcomes and resend
 * themselves.
 * `timeoutMS` is not set because of CVE-2026-119179; in driver 7.8 it has no effect anyway.
 */
const bounded = {
  serverSelectionTimeoutMS: 1_000,
  waitQueueTimeoutMS: 1_000,
  connectTimeoutMS: 1_000,
  socketTimeoutMS: 3_000,
  heartbeatFrequencyMS: 1_000,
  retryWrites: false,
  retryReads: false,
  useBigInt64: true,
  ignoreUndefined: true,
  // A stored regular expression that JavaScript does not know would fail the read of all documents beside it.
  bsonRegExp: true,
} as const satisfies MongoClientOptions;

/** Server-side timeout of an operation for which no client waits; it includes waiting for a majority. */
export const OPERATION_MS_MAX = 5_000;

/** Delay between attempts at the first connection, for failures that come at once, such as a name without address. */
const RECONNECT_MS = 250;

/**
 * Retries the first connection until it succeeds. The driver itself tries only once: if that fails, every later
 * operation fails with MongoTopologyClosedError, even when the database is up again. Once connected, the driver
 * recovers from outages itself.
 */
class PersistentMongoClient extends MongoClient {
  #closed = false;

  async connectAtLast(): Promise<void> {
    while (!this.#closed) {
      const connected = await this.connect().catch(() => undefined);
      if (connected !== undefined) return;
      await pause(RECONNECT_MS, undefined, { ref: false });
    }
  }

  override async close(): Promise<void> {
    this.#closed = true;
    await super.close();
  }
}

/**
 * A client that connects in the background, so that a database that is down delays no start.
 * @throws ConfigurationError when the address is no MongoDB connection string.
 */
export function createMongoClient(
  url: string,
  appName: string,
  options: MongoClientOptions = {},
): MongoClient {
  try {
    const client = new PersistentMongoClient(url, { ...bounded, appName, ...options });
    void client.connectAtLast();
    return client;
  } catch (error) {
    throw new ConfigurationError([
      `MONGODB_URL is no MongoDB connection string (${(error as Error).message})`,
    ]);
  }
}

/** The database the address names, else `plantstore` (the driver's own default would be `test`). */
export function databaseName(url: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]+)/.exec(url)?.[1];
  return path === undefined ? 'plantstore' : decodeURIComponent(path);
}

/** Whether a primary answers, without waiting for one longer than server selection does. */
export async function hasPrimary(client: MongoClient): Promise<boolean> {
  try {
    const hello = await client.db('admin').command({ hello: 1 }, { readPreference: 'primary' });
    return hello['isWritablePrimary'] === true;
  } catch {
    return false;
  }
}
