/**
 * Prepares MongoDB for the services: an account for each, and the indexes, which no service may create. May be repeated
 * at any time: it creates what is missing and updates the rest, including passwords.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { auditIndexes, plantIndexes, searchIndexes } from '@plant-store/contracts/indexes';
import { readEnvironment } from '@plant-store/platform/configuration/configuration';
import { createMongoClient, databaseName } from '@plant-store/platform/mongo/mongo';
import { ensureIndexes } from '@plant-store/platform/mongo/mongo-indexes';
import { str } from 'envalid';
import type { Db } from 'mongodb';
import { dropSharedAccount, ensureAccount } from './accounts.ts';

const ANSWER_MS_MAX = 120_000;
const PAUSE_MS = 500;

const settings = {
  MONGODB_ADMIN_URL: str(),
  MONGODB_API_PASSWORD: str(),
  MONGODB_WORKER_PASSWORD: str(),
  MONGODB_OPS_PASSWORD: str(),
  MONGODB_COMMANDS_PASSWORD: str(),
};

try {
  await prepare(readEnvironment(process.env, settings));
} catch (error) {
  process.stderr.write(`setup: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function prepare(env: Readonly<Record<keyof typeof settings, string>>): Promise<void> {
  const passwords = {
    'plantstore-api': env.MONGODB_API_PASSWORD,
    'plantstore-worker': env.MONGODB_WORKER_PASSWORD,
    'plantstore-ops': env.MONGODB_OPS_PASSWORD,
    'plantstore-commands': env.MONGODB_COMMANDS_PASSWORD,
  };
  const client = createMongoClient(env.MONGODB_ADMIN_URL, 'plant-store-setup');
  try {
    const admin = client.db('admin');
    await answers(admin);
    const database = databaseName(env.MONGODB_ADMIN_URL);
    for (const [name, password] of Object.entries(passwords)) {
      await ensureAccount(admin, database, name, password);
      say(`account ${name} is ready`);
    }
    if (await dropSharedAccount(admin)) say('account plantstore, which all services shared, is dropped');
    const indexes = [...plantIndexes, ...searchIndexes, ...auditIndexes];
    const unfinished = (error: unknown) => say(`the indexes are not ready: ${(error as Error).message}`);
    await ensureIndexes(client.db(database), indexes, unfinished, new AbortController().signal);
    say(`${indexes.length} indexes are ready`);
  } finally {
    await client.close();
  }
}

/** Waits for a primary that accepts the administrator's password: a new replica set has neither at first. */
async function answers(admin: Db): Promise<void> {
  const deadline = performance.now() + ANSWER_MS_MAX;
  for (;;) {
    const failure = await admin
      .command({ ping: 1 }, { readPreference: 'primary' })
      .catch((error: Error) => error);
    if (!(failure instanceof Error)) return;
    if (performance.now() > deadline)
      throw new Error(`MongoDB did not answer within ${ANSWER_MS_MAX / 1_000} s: ${failure.message}`);
    await pause(PAUSE_MS);
  }
}

function say(line: string): void {
  process.stdout.write(`setup: ${line}\n`);
}
