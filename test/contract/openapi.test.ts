import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idempotencyKeyHash } from '../../services/api/src/http/idempotency-key.ts';
import { openApiDocument } from '../../services/api/src/http/openapi/document.ts';
import { documentedRefusals } from './documented-answers.ts';

const FILE = resolve(import.meta.dirname, '../../docs/openapi.json');
const committed = await readFile(FILE, 'utf8');
const document = JSON.parse(committed);
const createPlant = document.paths['/plants'].post;
const { schemas, headers, parameters, securitySchemes } = document.components;

test('the committed document is what the schemas and the catalogue say', () => {
  expect(document).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});

test('the linter finds nothing in it', async () => {
  expect(await lint(FILE)).toBe('');
});

test('the linter refuses a document without its licence and with a wrong example', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'openapi-'));
  try {
    const broken = JSON.parse(committed);
    delete broken.info.license;
    broken.paths['/plants'].post.responses['404'].content[
      'application/json'
    ].examples.pathUnknown.value.error = 'x';
    await writeFile(join(directory, 'broken.json'), JSON.stringify(broken));
    const complaint = await lint(join(directory, 'broken.json'));
    expect(complaint).toContain('info-license');
    expect(complaint).toContain('no-invalid-media-type-examples');
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('it is the specified interface: one operation, version 1.0.0, MIT, any base address', () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info).toMatchObject({ version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } });
  expect(Object.keys(document.paths)).toEqual(['/plants']);
  expect(Object.keys(document.paths['/plants'])).toEqual(['post']);
  expect(document.servers).toEqual([expect.objectContaining({ url: '/' })]);
});

test('every operation needs a bearer token', () => {
  expect(document.security).toEqual([{ bearer: [] }]);
  expect(createPlant.security).toBeUndefined();
  expect(securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
});

test('the bodies are the specified ones', () => {
  const { NewPlant, Plant, Error: ErrorAnswer } = schemas;
  expect(NewPlant).toMatchObject({ type: 'object', required: ['id', 'name'] });
  expect(Object.keys(NewPlant.properties)).toEqual(['id', 'name', 'tag']);
  expect(NewPlant.properties.id).toMatchObject({ type: 'integer', format: 'int64' });
  expect(Plant).toMatchObject({ type: 'object', required: ['name'] });
  expect(Object.keys(Plant.properties)).toEqual(['name', 'tag']);
  expect(ErrorAnswer).toMatchObject({ type: 'object', required: ['error', 'message'] });
  expect(ErrorAnswer.properties.error).toMatchObject({ type: 'integer', format: 'int32' });
  expect(ErrorAnswer.properties.message).toMatchObject({ type: 'string' });
  for (const field of [NewPlant.properties.name, NewPlant.properties.tag]) expect(field.type).toBe('string');
});

test('no bound of an int64 and no keyword of ours is in it: readers would round the one and not know the other', () => {
  expect(committed).not.toMatch(/922337203685477|int64":|wellFormed|\$id/);
});

test('400 keeps its specified description, and the reading of 400 and 503 is stated', () => {
  expect(createPlant.responses['400'].description).toBe('unexpected error');
  expect(document.info.description).toContain('A failed create is answered with 400');
  expect(document.info.description).toContain('it answers 503 with the same body');
});

test('every number of the catalogue has its example, under its own status', () => {
  const documented = documentedRefusals(document);
  for (const [name, { error, status, message }] of Object.entries(errorCatalogue)) {
    expect(documented).toContainEqual({ name, status, body: { error, message } });
  }
  const moved = documented.filter(
    ({ name, status }) => errorCatalogue[name as keyof typeof errorCatalogue]?.status !== status,
  );
  expect(moved.map(({ name, status }) => [status, name])).toEqual(
    [408, 414, 417, 431].map((status) => [status, 'malformedRequest']),
  );
});

test.each([
  { header: 'X-Request-Id', statuses: Object.keys(createPlant.responses) },
  { header: 'WWW-Authenticate', statuses: ['401', '403'] },
  { header: 'Allow', statuses: ['405'] },
  { header: 'Retry-After', statuses: ['429', '503'] },
  { header: 'Idempotency-Replayed', statuses: ['200'] },
])('$header is documented where it is sent', ({ header, statuses }) => {
  const carriers = Object.entries<{ headers: object }>(createPlant.responses)
    .filter(([, answer]) => header in answer.headers)
    .map(([status]) => status);
  expect(carriers).toEqual(statuses);
  expect(headers[header].description).not.toBe('');
});

test('the documented Idempotency-Key is exactly the accepted one', () => {
  const documented = new RegExp(parameters['Idempotency-Key'].schema.pattern);
  const unit = fc.constantFrom('"', '\\', 'a', '~', '!', '#', '[', ']', ' ', 'é', '\t');
  const inner = fc.string({ unit, maxLength: 300, size: 'max' });
  const key = fc.oneof(
    inner,
    inner.map((text) => `"${text}"`),
    fc.integer({ min: 250, max: 260 }).map((length) => 'k'.repeat(length)),
    fc.integer({ min: 250, max: 260 }).map((length) => `"${String.raw`\"`.repeat(length)}"`),
  );
  fc.assert(
    fc.property(key, (header) => {
      expect(documented.test(header)).toBe(accepted(header));
    }),
    { numRuns: 5_000, examples: [[''], ['"'], ['""'], ['"a'], ['a"'], ['a,b'], ['"a", "b"'], ['"\\a"']] },
  );
});

function accepted(header: string): boolean {
  try {
    return idempotencyKeyHash(header) !== undefined;
  } catch {
    return false;
  }
}

/** What the linter complains about; nothing when it is content. */
async function lint(file: string): Promise<string> {
  const config = join(import.meta.dirname, 'redocly.yaml');
  try {
    await promisify(execFile)(
      process.execPath,
      [createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js'), 'lint', '--config', config, file],
      { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
    );
    return '';
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}
