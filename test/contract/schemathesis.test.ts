import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, expect, type TestContext, test } from 'vitest';
import { installedNginx, startGateway } from '../gateway/harness/running-gateway.ts';
import { apiUnderTest } from '../harness/api/api.ts';
import { token } from '../harness/api/tokens.ts';
import { installedSchemathesis, SchemathesisMissingError } from './schemathesis/installation.ts';
import { runSchemathesis } from './schemathesis/run.ts';

const RUN_MS_MAX = 150_000;
/** Fewer cases than this were never a test: the run uses about 370. */
const CASES_MIN = 250;

const api = apiUnderTest();
let missing: string | undefined;

beforeAll(async () => {
  await installedSchemathesis().catch((error) => {
    if (!(error instanceof SchemathesisMissingError) || process.env['CI'] === 'true') throw error;
    missing = error.message;
    process.stderr.write(`\n!!! SCHEMATHESIS IS SKIPPED: ${missing}\n\n`);
  });
});

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
      token: token(),
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
  const before = await api.plants.countDocuments();
  const { report, output } = await runSchemathesis({ url, token: token() });
  expect(report.failures, output).toEqual([]);
  expect(report, output).toMatchObject({ complete: true, exit_code: 0, errors: [] });
  expect(report.test_cases.generated).toBeGreaterThan(CASES_MIN);
  expect(await api.plants.countDocuments(), 'plants were really created').toBeGreaterThan(before);
}
