import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ready } from '../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../harness/api/post-plant.ts';
import { TEST_SECRET, token } from '../harness/api/tokens.ts';
import { type MongoProxy, mongoProxy } from '../harness/network/mongo-proxy.ts';
import { exchange, rawConnection } from '../harness/network/raw-http.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { rejectedTokens } from './corpus/access-tokens.ts';
import { type RequestParts, render } from './corpus/case.ts';
import { inChunks } from './corpus/chunked.ts';

/** A create that takes longer is slow. */
const SLOW_MS = 1_000;
/** Far from the database, each way. */
const LINK_MS = 100;

const environment = testEnvironment();
let proxy: MongoProxy;
let api: Program;
let url: string;

beforeAll(async () => {
  proxy = await mongoProxy(environment.MONGODB_URL);
  api = await startProgram('api', { ...environment, MONGODB_URL: proxy.url, INSTANCE: 'api-7' });
  url = api.url;
  await ready(api.internalUrl);
});
afterAll(async () => {
  await api?.stop();
  await proxy?.close();
});

/** The lines that the work writes, told from what follows by a last request of a known id. */
async function linesOf(work: () => Promise<unknown>) {
  const before = api.log.length;
  await work();
  const last = `last-${freshId()}`;
  const headers = { 'X-Request-Id': last, Authorization: undefined };
  await exchange(url, render({ headers }));
  await waitFor(() => api.log.some(({ request }) => request === last), {
    withinMs: 5_000,
    what: 'the last line',
  });
  return api.log.slice(before).filter(({ request }) => request !== last);
}

const createOne = () => postPlant(url, { id: freshId(), name: 'a' });

test('successful creates leave no line', async () => {
  const lines = await linesOf(() => Promise.all(Array.from({ length: 50 }, createOne)));
  // One that took over a second has one, on a busy machine.
  expect(lines.filter(({ msg }) => msg !== 'request was slow')).toEqual([]);
});

test.each<[string, RequestParts, { status: number; error: number }]>([
  ['a refused token', { headers: { Authorization: 'Bearer x' } }, { status: 401, error: 2001 }],
  ['a refused plant', { body: '{}' }, { status: 400, error: 1001 }],
  ['an unknown path', { target: '/x' }, { status: 404, error: 3000 }],
  ['a target that cannot be decoded', { target: '/%ff' }, { status: 400, error: 1007 }],
  ['an unknown expectation', { headers: { Expect: 'x' } }, { status: 417, error: 1007 }],
])('%s leaves one line, with its request id', async (_, parts, refusal) => {
  const request = `request-${freshId()}`;
  const headers = { ...parts.headers, 'X-Request-Id': request };
  const lines = await linesOf(() => exchange(url, render({ ...parts, headers })));
  const line = {
    level: 30,
    msg: 'request refused',
    service: 'api',
    instance: 'api-7',
    request,
    method: 'POST',
    path: (parts.target ?? '/plants').split('?')[0],
    ...refusal,
  };
  expect(lines).toEqual([{ ...line, ms: expect.any(Number), time: expect.stringMatching(/^2\d{3}-.*Z$/) }]);
});

test.each<[string, RequestParts, number]>([
  ['bytes that are no HTTP', { edit: () => '\0\0\0\0' }, 400],
  ['a head that is too large', { headers: { 'X-Note': 'a'.repeat(17_000) } }, 431],
  ['a body that breaks half-way', { edit: inChunks(() => 'xyz\r\n') }, 400],
])('%s leaves one line, with the request id of the answer', async (_, parts, status) => {
  let request: string | undefined;
  const lines = await linesOf(async () => {
    request = (await exchange(url, render(parts))).headers.get('x-request-id');
  });
  expect(lines).toMatchObject([{ level: 30, request, status, error: 1007 }]);
});

test('a request whose client hung up before its answer leaves one line and is counted', async () => {
  const request = `request-${freshId()}`;
  const counted = await api.metric('http_requests_total', 'status="499"');
  const lines = await linesOf(async () => {
    const connection = await rawConnection(url);
    const half = render({ headers: { 'X-Request-Id': request, 'Content-Length': '100' } });
    // Both arrive in one piece, so the answer to the first tells that the second one's head was read.
    connection.send(Buffer.concat([render({ body: plantJson({ id: freshId(), name: 'a' }) }), half]));
    await connection.answer();
    connection.reset();
    await waitFor(() => api.log.some((line) => line.request === request), {
      withinMs: 5_000,
      what: 'its line',
    });
  });
  // On a busy machine the request before it may be slow.
  expect(lines.filter(({ msg }) => msg !== 'request was slow')).toMatchObject([
    { level: 30, msg: 'the client hung up before its answer', status: 499, request },
  ]);
  expect(await api.metric('http_requests_total', 'status="499"')).toBe(counted + 1);
});

test('a slow create leaves one line, although it succeeded', async () => {
  const lines = await linesOf(async () => {
    await using connection = await rawConnection(url);
    const slow = render({});
    const body = slow.indexOf('\r\n\r\n') + 4;
    // The answer to the first tells that the head of the slow one was read, from which on its time counts.
    const first = render({ headers: { 'X-Request-Id': 'first' } });
    connection.send(Buffer.concat([first, slow.subarray(0, body)]));
    await connection.answer();
    // The client is slow; what is tested is that so much time has passed.
    await sleep(1.1 * SLOW_MS);
    connection.send(slow.subarray(body));
    await connection.answer();
  });
  // On a busy machine the first may be slow as well.
  expect(lines.filter(({ request }) => request !== 'first')).toMatchObject([
    { level: 40, msg: 'request was slow', status: 200, ms: expect.any(Number) },
  ]);
});

test('a refusal that waits for the answer before it is recorded with the time it waited', async () => {
  proxy.delay(LINK_MS);
  try {
    const lines = await linesOf(async () => {
      await using connection = await rawConnection(url);
      const connect = Buffer.from('CONNECT plants.test:443 HTTP/1.1\r\nHost: plants.test\r\n\r\n');
      connection.send(Buffer.concat([render({}), connect]));
      expect((await connection.answer()).status).toBe(200);
      expect((await connection.answer()).status).toBe(405);
    });
    const refusal = lines.find(({ error }) => error === 3001);
    expect(refusal?.['ms']).toBeGreaterThan(LINK_MS);
  } finally {
    proxy.delay(0);
  }
});

test('a create that fails leaves one line of its own, and its commit says why', async () => {
  proxy.plan('insert', 'lose request', 'lose request');
  const lines = await linesOf(createOne);
  expect(lines.filter(({ msg }) => msg === 'request failed')).toMatchObject([
    { level: 40, status: 503, error: 5002 },
  ]);
  const commits = lines.filter(({ msg }) => msg === 'commit was not acknowledged');
  const commit = expect.stringMatching(/^[0-9a-f]{24}$/);
  expect(commits).toMatchObject(
    [1, 2].map(() => ({ level: 40, commit, result: 'unknown', reason: expect.stringMatching(/\w/) })),
  );
  const outage = lines.filter(({ msg }) => String(msg).startsWith('the database'));
  expect(outage[0]).toMatchObject({ level: 40, reason: expect.stringMatching(/\w/) });
  expect(lines).toHaveLength(3 + outage.length);
});

test('no line holds a token, a secret or a plant’s name', async () => {
  const name = `name-${freshId()}`;
  const secrets = [
    token(),
    ...rejectedTokens.map(({ headers }) => String(headers?.['Authorization']).slice(7)),
  ];
  await linesOf(async () => {
    for (const subject of rejectedTokens) await exchange(url, render(subject));
    await postPlant(url, { id: freshId(), name });
    await exchange(
      url,
      render({ target: `/plants?access_token=${token()}`, headers: { Authorization: undefined } }),
    );
  });
  const text = api.log.map((line) => JSON.stringify(line)).join('\n');
  expect(text).not.toMatch(/eyJ|bearer/i);
  expect(text).not.toContain(TEST_SECRET);
  expect(text).not.toContain(name);
  expect(secrets.filter((secret) => secret.length > 12 && text.includes(secret))).toEqual([]);
});
