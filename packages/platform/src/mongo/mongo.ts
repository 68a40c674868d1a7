import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { ConfigurationError } from '../configuration/configuration.ts';

/**
 * Every wait of the driver is bounded well below the 5 s any caller waits: its defaults are 30 s or for ever.
 * `retryWrites` is off, since a retry of the driver's own blurs whether a write was sent (a lost reply can end in
 * MongoServerSelectionError with the document stored); writers resolve and resend themselves.
 * No `timeoutMS`: CVE-2026-119179, and in 7.8 it does nothing.
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
} as const satisfies MongoClientOptions;

/** An operation's bound on the server where no client waits for its answer; waiting for a majority included. */
export const OPERATION_MS_MAX = 5_000;

/** Between attempts at a first connection that fail at once, as a name that does not resolve does. */
const RECONNECT_MS = 250;

/**
 * Tries to connect until it has. The driver tries once: after a first connection that failed, every operation ends in
 * MongoTopologyClosedError, for ever and whatever the database does. Once connected it recovers from outages itself.
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
