import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Replica, startReplica } from '../harness/api/api.ts';
import { freshId } from '../harness/api/post-plant.ts';
import { inSeconds, token } from '../harness/api/tokens.ts';
import { hasCurl } from '../harness/curl.ts';
import { type PrivateServer, privateMongod } from '../harness/servers/private-servers.ts';
import { needsServers, testEnvironment, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { losingProxy } from './losing-proxy.ts';
import { type PageExamples, pageExamples } from './page-examples.ts';

const root = resolve(import.meta.dirname, '../..');
const NO_VERDICTS_MIN = 2;
const OUTAGE_MS_MAX = 30_000;

needsServers();
const queue = testQueue();
let mongod: PrivateServer;
let mongo: MongoClient;
let plants: Collection<{ _id: bigint; name: string }>;
let replica: Replica;
let examples: PageExamples;

beforeAll(async () => {
  mongod = await privateMongod();
  mongo = new MongoClient(mongod.url, { useBigInt64: true });
  plants = mongo.db('plantstore').collection('plants');
  replica = await startReplica(testEnvironment({ mongodbUrl: mongod.url, queue }));
  examples = await pageExamples();
});
afterAll(async () => {
  await replica?.close();
  await mongo?.close();
  await mongod?.close();
  await examples?.[Symbol.asyncDispose]();
});

/** The answers outside 200 since a line of the log. */
const refusals = (since: number) =>
  replica.log.slice(since).filter(({ error }) => typeof error === 'number' && error > 0);

describe.skipIf(!hasCurl)('the shell example', () => tryExample('shell'));
describe('the library example', () => tryExample('library'));

function tryExample(example: 'shell' | 'library'): void {
  test('creates a plant', async () => {
    const id = freshId();
    const outcome = await examples[example]({
      url: replica.url,
      token: token(),
      id,
      name: 'Monstera',
      key: randomUUID(),
    });
    expect(outcome).toMatchObject({ code: 0 });
    expect(await plants.findOne({ _id: id })).toMatchObject({ name: 'Monstera' });
  });

  test('repeats through an outage of the database until the plant is stored, once', {
    timeout: 2 * OUTAGE_MS_MAX,
  }, async () => {
    const id = freshId();
    const since = replica.log.length;
    mongod.signal('SIGSTOP');
    const running = examples[example]({
      url: replica.url,
      token: token(),
      id,
      name: 'Fern',
      key: randomUUID(),
    });
    try {
      await waitFor(() => refusals(since).length >= NO_VERDICTS_MIN, {
        withinMs: OUTAGE_MS_MAX,
        what: `the client got ${NO_VERDICTS_MIN} answers without a verdict`,
      });
    } finally {
      mongod.signal('SIGCONT');
    }
    expect(await running).toMatchObject({ code: 0 });
    expect(new Set(refusals(since).map(({ status }) => status))).toEqual(new Set([503]));
    expect(await plants.find({ _id: id }).toArray()).toEqual([expect.objectContaining({ name: 'Fern' })]);
  });

  test('learns that its plant is stored although two answers were lost', async () => {
    const id = freshId();
    await using proxy = await losingProxy(replica.url, 2);
    const outcome = await examples[example]({
      url: proxy.url,
      token: token(),
      id,
      name: 'Ivy',
      key: randomUUID(),
    });
    expect(outcome).toMatchObject({ code: 0 });
    expect(proxy.lost()).toBe(2);
    expect(await plants.findOne({ _id: id })).toMatchObject({ name: 'Ivy' });
  });

  test('goes on with the same key after a restart', async () => {
    const attempt = { url: replica.url, token: token(), id: freshId(), name: 'Moss', key: randomUUID() };
    expect(await examples[example](attempt)).toMatchObject({ code: 0 });
    expect(await examples[example](attempt)).toMatchObject({ code: 0 });
  });

  test('takes a verdict as one, after a single request', async () => {
    const attempt = { url: replica.url, token: token(), id: freshId(), name: 'Rose', key: randomUUID() };
    await examples[example](attempt);
    const since = replica.log.length;
    const outcome = await examples[example]({ ...attempt, name: 'Lily', key: randomUUID() });
    expect(outcome.code).toBe(1);
    expect(outcome.stdout + outcome.stderr).toContain('1002');
    expect(refusals(since)).toEqual([expect.objectContaining({ status: 400, error: 1002 })]);
  });
}

test('the library takes a refused token for a reason to renew it, once', async () => {
  const expired = token({ claims: { exp: inSeconds(-3_600) } });
  const attempt = { url: replica.url, token: expired, id: freshId(), name: 'Aloe', key: randomUUID() };
  expect(await examples.library({ ...attempt, renewedToken: token() })).toMatchObject({ code: 0 });

  const since = replica.log.length;
  const outcome = await examples.library({ ...attempt, id: freshId(), renewedToken: expired });
  expect(outcome).toMatchObject({ code: 1, stdout: expect.stringContaining('2001') });
  expect(refusals(since)).toHaveLength(2);
});

test('the library takes its own plant, sent again without the key, for stored', async () => {
  const attempt = { url: replica.url, token: token(), id: freshId(), name: 'Sage', key: randomUUID() };
  await examples.library(attempt);
  const since = replica.log.length;
  expect(await examples.library({ ...attempt, key: randomUUID() })).toMatchObject({ code: 0 });
  expect(refusals(since)).toEqual([expect.objectContaining({ error: 1008 })]);
});

test('the example of use runs as it stands, with an id that no double holds', async () => {
  const outcome = await examples.use(replica.url, token());
  expect(outcome).toEqual({ code: 0, stdout: '{ stored: true }\n', stderr: '' });
  expect(await plants.findOne({ _id: 9_007_199_254_740_993n })).toMatchObject({ name: 'Monstera' });
});

test('the TypeScript examples are sound under the strictest types', async () => {
  const options = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes'];
  const modules = ['--module', 'nodenext', '--target', 'esnext', '--allowImportingTsExtensions'];
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  const compiler = join(root, 'node_modules/.bin/tsc');
  const complaint = await promisify(execFile)(
    compiler,
    [...options, ...modules, ...types, 'create-plant.ts', 'use.ts'],
    { cwd: examples.directory },
  ).then(
    () => '',
    ({ stdout }) => stdout,
  );
  expect(complaint).toBe('');
});

test('the library repeats exactly what the page of errors says is worth repeating', async () => {
  const { worthRepeating } = await import(join(examples.directory, 'create-plant.ts'));
  const page = await readFile(join(root, 'docs/errors.md'), 'utf8');
  const rows = [...page.matchAll(/^\| \[(\d{4})\].*? \| ([\d, ]+) \| (.+) \|$/gm)];
  expect(rows.length).toBeGreaterThan(15);
  for (const [, number, statuses, repeat] of rows) {
    for (const status of (statuses as string).split(', ').map(Number)) {
      const told = /^yes/.test(repeat as string) || (repeat as string).includes(`after ${status} yes`);
      expect(worthRepeating(status), `${number} with ${status}`).toBe(told);
    }
  }
});
