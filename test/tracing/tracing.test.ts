import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTelemetry } from '../../packages/platform/src/tracing/open-telemetry.ts';
import { render } from '../api/corpus/case.ts';
import { ready } from '../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../harness/api/post-plant.ts';
import { capturedLog } from '../harness/captured-log.ts';
import { rawConnection } from '../harness/network/raw-http.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { underLoadMs, waitFor } from '../harness/wait-for.ts';
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from './otlp-receiver.ts';

const environment = testEnvironment();
let receiver: OtlpReceiver;
let api: Program;
let worker: Program;

beforeAll(async () => {
  receiver = await otlpReceiver();
  const traced = {
    ...environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    OTEL_TRACES_SAMPLER_ARG: '1',
    DRAIN_MS: '0',
  };
  api = await startProgram('api', { ...traced, INSTANCE: 'api-7' });
  worker = await startProgram('worker', traced);
  await ready(api.internalUrl);
});
afterAll(async () => {
  await api?.stop();
  await worker?.stop();
  await receiver?.[Symbol.asyncDispose]();
});

/** Tells at the end how many modules of OpenTelemetry's SDK were loaded; prom-client loads its API in any case. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  let loaded = 0;
  registerHooks({ load(url, context, next) {
    if (/\\/@opentelemetry\\/(?!api\\/)/.test(url)) loaded++;
    return next(url, context);
  } });
  process.on('exit', () => process.stderr.write('modules of OpenTelemetry: ' + loaded + '\\n'));
`)}`;

/** A client's step of its own trace. */
function clientStep(flags: '00' | '01' = '01') {
  const trace = randomBytes(16).toString('hex');
  const id = randomBytes(8).toString('hex');
  return { trace, id, headers: { traceparent: `00-${trace}-${id}-${flags}` } };
}

const create = (headers: Record<string, string>) =>
  postPlant(api.url, { id: freshId(), name: 'fern' }, { headers });

/** The span with this name that belongs to a step or links it, once it has arrived. */
function spanAfter(name: string, { trace, id }: { trace: string; id: string }): Promise<ReceivedSpan> {
  return waitFor(
    () =>
      receiver
        .spans()
        .find((span) => span.name === name && (span.parent === id || span.links.includes(`${trace}-${id}`))),
    { withinMs: 15_000, what: `a span ${name} after ${trace}-${id}` },
  );
}

async function pathOf(step: { trace: string; id: string }) {
  const request = await spanAfter('POST /plants', step);
  const commit = await spanAfter('commit', request);
  const publication = await spanAfter('publish plants.created', commit);
  const job = await spanAfter('process plants.created', publication);
  const batch = await spanAfter('batch', job);
  return { request, commit, publication, job, batch };
}

test('one create is one trace of the client: request, commit, publication, job, batch', async () => {
  const step = clientStep();
  const answer = await create({ ...step.headers, 'x-request-id': 'the-traced-one' });
  expect(answer.status).toBe(200);
  const { request, commit, publication, job, batch } = await pathOf(step);
  for (const { trace } of [request, commit, publication, job, batch]) expect(trace).toBe(step.trace);
  expect(request).toMatchObject({
    service: 'plant-store-api',
    attributes: {
      'http.response.status_code': 200,
      'http.route': '/plants',
      'plants.request': 'the-traced-one',
    },
  });
  expect(commit.attributes).toMatchObject({
    'plants.commit': expect.stringMatching(/^[0-9a-f]{24}$/),
    'db.operation.batch.size': 1,
  });
  expect(publication.service).toBe('plant-store-api');
  expect(job).toMatchObject({
    service: 'plant-store-worker',
    attributes: { 'messaging.message.id': `commit-${commit.attributes['plants.commit']}` },
  });
  expect(batch).toMatchObject({ service: 'plant-store-worker', attributes: { 'plants.jobs': 1 } });
});

test('every request of a shared commit leads to it, and from there to the job and the batch', async () => {
  const steps = Array.from({ length: 40 }, () => clientStep());
  const answers = await Promise.all(steps.map(({ headers }) => create(headers)));
  expect(answers.map(({ status }) => status)).toEqual(steps.map(() => 200));
  const paths = await Promise.all(steps.map(pathOf));

  const shared = paths.filter(({ commit }) => Number(commit.attributes['db.operation.batch.size']) > 1);
  expect(shared.length).toBeGreaterThan(1);
  const linked = shared.filter(({ request, commit }) => commit.parent !== request.id);
  expect(linked.length).toBeGreaterThan(0);
  for (const { request, commit } of linked) {
    expect(commit.links).toContain(`${request.trace}-${request.id}`);
    expect(request.links).toEqual([`${commit.trace}-${commit.id}`]);
  }
});

test('a client that does not record its trace has none of ours recorded, and a trace of our own begins without one', async () => {
  const unrecorded = clientStep('00');
  await create(unrecorded.headers);
  await create({ 'x-request-id': 'without-a-trace' });
  const own = await waitFor(
    () => receiver.spans().find(({ attributes }) => attributes['plants.request'] === 'without-a-trace'),
    { withinMs: 15_000, what: 'the span of the last request' },
  );
  expect(own.parent).toBeUndefined();
  expect(receiver.spans().filter(({ trace }) => trace === unrecorded.trace)).toEqual([]);
});

test('a request whose client hung up is a failed step', async () => {
  const step = clientStep();
  const connection = await rawConnection(api.url);
  const body = plantJson({ id: freshId(), name: 'fern' });
  const half = render({ headers: { ...step.headers, 'Content-Length': '100' }, body });
  // Both arrive in one piece, so the answer to the first tells that the second one's head was read.
  connection.send(Buffer.concat([render({ body }), half]));
  await connection.answer();
  connection.reset();
  expect(await spanAfter('POST /plants', step)).toMatchObject({
    failed: true,
    reason: 'the client hung up before its answer',
  });
});

test('of an error a span has the name alone: its message may quote plants and addresses', async () => {
  const { logger } = capturedLog();
  const options = { endpoint: receiver.endpoint, ratio: 1, service: 'test', instance: 'i' };
  await using tracing = openTelemetry(options, logger);
  tracing
    .start('failing', { kind: 'internal', parent: undefined })
    .end(new TypeError('plant 7 at 127.0.0.1'));
  const failed = () => receiver.spans().find(({ name }) => name === 'failing');
  const span = await waitFor(failed, { withinMs: 15_000, what: 'the span has arrived' });
  expect(span).toMatchObject({ failed: true, reason: 'TypeError' });
});

test('requests for other paths begin no trace, and no span holds a token, a name or an address', async () => {
  const before = receiver.spans().length;
  await fetch(`${api.url}/elsewhere`);
  await create({ 'x-request-id': 'the-last-one' });
  await waitFor(
    () => receiver.spans().some(({ attributes }) => attributes['plants.request'] === 'the-last-one'),
    { withinMs: 15_000, what: 'the span of the last request' },
  );
  const spans = receiver.spans().slice(before);
  expect(spans.filter(({ name }) => name.includes('elsewhere') || name === 'GET ')).toEqual([]);
  expect(JSON.stringify(receiver.spans())).not.toMatch(/eyJ|fern|127\.0\.0\.1/);
});

test('without an endpoint nothing of OpenTelemetry is loaded', async () => {
  const plain = await startProgram('api', {
    ...environment,
    DRAIN_MS: '0',
    NODE_OPTIONS: `--import=${PROBE}`,
  });
  expect((await postPlant(plain.url, { id: freshId(), name: 'fern' })).status).toBe(200);
  expect(await plain.stop()).toBe(0);
  expect(plain.stderr()).toBe('modules of OpenTelemetry: 0\n');
});

test('a collector that is away delays no answer, and is one line in the log until it is back', async () => {
  const gone = await otlpReceiver();
  await gone[Symbol.asyncDispose]();
  await using lonely = await startProgram('api', {
    ...environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: gone.endpoint,
    DRAIN_MS: '0',
  });
  await ready(lonely.internalUrl);
  for (let sent = 0; sent < 5; sent++)
    expect((await postPlant(lonely.url, { id: freshId(), name: 'fern' })).status).toBe(200);
  const complaints = () => lonely.log.filter(({ msg }) => msg.startsWith('spans cannot be sent'));
  await waitFor(() => complaints().length > 0, { withinMs: 20_000, what: 'the log says so' });
  expect(complaints()).toHaveLength(1);
  const stopped = performance.now();
  expect(await lonely.stop()).toBe(0);
  expect(performance.now() - stopped).toBeLessThan(underLoadMs(10_000));
});
