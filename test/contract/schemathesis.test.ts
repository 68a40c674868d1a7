import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { installedNginx, startGateway } from '../gateway/running-gateway.ts';
import { testDatabase, testQueue } from '../harness/servers.ts';
import { type RunningApi, startRunningApi } from './running-api.ts';
import { installedSchemathesis, SchemathesisMissingError } from './schemathesis/installation.ts';
import { runSchemathesis } from './schemathesis/run.ts';

const RUN_MS_MAX = 150_000;
/** Fewer cases than this were never a test: the run uses about 370. */
const CASES_MIN = 250;

const database = testDatabase();
const queue = testQueue();
let api: RunningApi;
let missing: string | undefined;

beforeAll(async () => {
  api = await startRunningApi({
    MONGODB_URL: database.url,
    REDIS_URL: queue.url,
    QUEUE_PREFIX: queue.prefix,
  });
  await installedSchemathesis().catch((error) => {
    if (!(error instanceof SchemathesisMissingError) || process.env['CI'] === 'true') throw error;
    missing = error.message;
    process.stderr.write(`\n!!! SCHEMATHESIS IS SKIPPED: ${missing}\n\n`);
  });
}, 180_000);
afterAll(() => api[Symbol.asyncDispose]());

test('no answer of the API contradicts the document', { timeout: RUN_MS_MAX }, async (context) => {
  await findsNoFault(context, api.url);
});

test.skipIf(installedNginx === undefined)(
  'no answer that comes through the gateway contradicts the document',
  { timeout: RUN_MS_MAX },
  async (context) => {
    await using gateway = await startGateway({ upstreams: [new URL(api.url).host] });
    await findsNoFault(context, gateway.url);
  },
);

test('an answer the document leaves out is found', { timeout: RUN_MS_MAX }, async (context) => {
  context.skip(missing !== undefined, missing);
  const directory = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const document = join(directory, 'openapi.json');
    const whole = JSON.parse(await readFile(resolve(import.meta.dirname, '../../docs/openapi.json'), 'utf8'));
    delete whole.paths['/plants'].post.responses['400'];
    await writeFile(document, JSON.stringify(whole));
    const { report } = await runSchemathesis({
      url: api.url,
      token: api.token(),
      document,
      phases: ['coverage'],
    });
    expect(report.failures.map(({ title }) => title)).toContain('Undocumented status code');
  } finally {
    await rm(directory, { recursive: true });
  }
});

async function findsNoFault({ skip }: TestContext, url: string): Promise<void> {
  skip(missing !== undefined, missing);
  const before = await plants();
  const { report, output } = await runSchemathesis({ url, token: api.token() });
  expect(report.failures, output).toEqual([]);
  expect(report, output).toMatchObject({ complete: true, exit_code: 0, errors: [] });
  expect(report.test_cases.generated).toBeGreaterThan(CASES_MIN);
  expect(await plants(), 'plants were really created').toBeGreaterThan(before);
}

async function plants(): Promise<number> {
  const client = new MongoClient(database.url);
  try {
    return await client.db(database.name).collection('plants').countDocuments();
  } finally {
    await client.close();
  }
}
