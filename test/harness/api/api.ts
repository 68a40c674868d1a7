import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect } from 'vitest';
import type { PlantDocument } from '../../../packages/contracts/src/plant-document.ts';
import { startApi } from '../../../services/api/src/compose.ts';
import { readApiConfig } from '../../../services/api/src/config.ts';
import { capturedLog } from '../captured-log.ts';
import { testEnvironment } from '../servers/servers.ts';
import { waitFor } from '../wait-for.ts';

type Environment = Record<string, string>;

/** One replica of the API in this process, put together as in production, on a free port. */
export type Replica = AsyncDisposable & {
  url: string;
  internalUrl: string;
  /** Its log lines so far, at info and above. */
  log: readonly Record<string, unknown>[];
  close: () => Promise<void>;
};

/**
 * @param environment as the process would read it; what it leaves out has the product's defaults.
 * @param awaitReady whether to wait until it is ready, as whoever sends it requests does.
 */
export async function startReplica(environment: Environment, { awaitReady = true } = {}): Promise<Replica> {
  const { config, secrets } = readApiConfig({ PORT: '0', DRAIN_MS: '0', ...environment });
  const { logger, lines: log } = capturedLog(config.logLevel);
  const { url, internalUrl, close } = await startApi(config, secrets, logger);
  if (awaitReady) await ready(internalUrl);
  return { url, internalUrl, log, close, [Symbol.asyncDispose]: close };
}

/** Waits until the process whose internal listener this is wants to be given work. */
export async function ready(internalUrl: string): Promise<void> {
  const answer = async () => (await fetch(`${internalUrl}/readyz`)).status === 200;
  await waitFor(answer, { withinMs: 15_000, what: 'the API is ready' });
}

export type ApiUnderTest = {
  /** What its replicas are started with, to start more of them on the same database. */
  environment: Environment;
  readonly replica: Replica;
  readonly url: string;
  /** The plants of this file's database. Ids are `bigint`. */
  readonly plants: Collection<PlantDocument>;
};

/** One replica with a database and a queue of this file alone, until the file ends. Call it at the top of a file. */
export function apiUnderTest(extra: Environment = {}): ApiUnderTest {
  const environment = { ...testEnvironment(), ...extra };
  const mongo = new MongoClient(environment.MONGODB_URL, { useBigInt64: true });
  let replica: Replica;
  beforeAll(async () => {
    replica = await startReplica(environment);
  });
  afterAll(async () => {
    await replica?.close();
    await mongo.close();
    expectCleanLog(replica.log);
  });
  return {
    environment,
    get replica() {
      return replica;
    },
    get url() {
      return replica.url;
    },
    plants: mongo.db().collection<PlantDocument>('plants'),
  };
}

/** Whatever a file has sent: no line holds a token, and none tells of a defect. */
function expectCleanLog(log: Replica['log']): void {
  const lines = log.map((line) => JSON.stringify(line));
  expect(lines.filter((line) => /eyJ|bearer/i.test(line))).toEqual([]);
  expect(lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
}
