import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'vitest';
import { apiUnderTest } from '../../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../../harness/api/post-plant.ts';
import { expectRefusal } from '../../harness/api/refusal.ts';
import {
  exchange,
  type RawAnswer,
  type RawConnection,
  rawConnection,
} from '../../harness/network/raw-http.ts';
import { render } from '../corpus/case.ts';

const api = apiUnderTest();

/** A head has to arrive within 5 s, a request within 10 s, an idle connection may wait 10 s. */
const HEAD_MS = 5_000;
const REQUEST_MS = 10_000;
/** A connection may be idle between two requests; that is no part of the second one's time. */
const IDLE_MS = 1_000;
/** A gateway keeps an idle connection for so long. */
const GATEWAY_IDLE_MS = 2_000;
/** Generous, for a busy machine; a server without the limit would never answer. */
const WITHIN_MS = 25_000;
/** The duration that the records have for an answer; they say so in whole or fractional milliseconds. */
const recordedMs = (answer: RawAnswer) =>
  Number(api.replica.log.find(({ request }) => request === answer.headers.get('x-request-id'))?.['ms']);

/** A byte each tenth of a second until the server has ended the connection. */
async function drip(connection: RawConnection, bytes: string): Promise<void> {
  const over = connection.closed.then(() => 'over' as const);
  for (const byte of bytes) {
    connection.send(byte);
    if ((await Promise.race([over, pause(100)])) === 'over') return;
  }
}

test.concurrent('a head that drips in is refused', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  const dripping = drip(connection, `POST /plants HTTP/1.1\r\nX-Note: ${'a'.repeat(200)}`);
  const answer = await connection.answer({ withinMs: WITHIN_MS });
  expectRefusal(answer, 408, 1007);
  expect(recordedMs(answer)).toBeGreaterThan(HEAD_MS * 0.9);
  expect(await connection.ended()).toBe('');
  await dripping;
});

test.concurrent('a head that never ends is refused', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  connection.send('GET /\r\n');
  expectRefusal(await connection.answer({ withinMs: WITHIN_MS }), 408, 1007);
  expect(await connection.ended()).toBe('');
});

test.concurrent('a create whose head is complete only after it was refused is not stored', async ({
  expect,
}) => {
  await using connection = await rawConnection(api.url, { allowHalfOpen: true });
  const id = freshId();
  const request = render({ body: plantJson({ id, name: 'late' }) });
  connection.send(request.subarray(0, 30));
  expectRefusal(await connection.answer({ withinMs: WITHIN_MS }), 408, 1007);
  connection.send(request.subarray(30));
  // Whatever was read before this create would be stored with it or before it.
  expect((await postPlant(api.url, { id: freshId(), name: 'next' })).status).toBe(200);
  expect(await api.plants.findOne({ _id: id })).toBeNull();
});

test.concurrent('a head that never ends behind an answered request is recorded with its time, not with that of the connection', async ({
  expect,
}) => {
  await using connection = await rawConnection(api.url);
  connection.send(render({}));
  expect((await connection.answer()).status).toBe(200);
  await pause(IDLE_MS);
  connection.send('POST /plants HTTP/1.1\r\nHost:');
  const answer = await connection.answer({ withinMs: WITHIN_MS });
  expectRefusal(answer, 408, 1007);
  expect(recordedMs(answer)).toBeGreaterThanOrEqual(HEAD_MS);
  expect(recordedMs(answer)).toBeLessThan(HEAD_MS + IDLE_MS);
});

test.concurrent('a request that arrives slowly and breaks is recorded with its time', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  connection.send('POST /plants HTTP/1.1\r\n');
  // Connections are accepted in the order in which they were opened: this one before the one answered here.
  expect((await exchange(api.url, render({}))).status).toBe(200);
  await pause(500);
  connection.send('\0');
  const answer = await connection.answer();
  expectRefusal(answer, 400, 1007);
  expect(recordedMs(answer)).toBeGreaterThan(450);
});

test.concurrent('a body that drips in is refused', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  const request = render({ body: Buffer.alloc(60_000, ' ') }).toString('latin1');
  const body = request.indexOf('\r\n\r\n') + 4;
  connection.send(request.slice(0, body));
  const dripping = drip(connection, request.slice(body));
  const answer = await connection.answer({ withinMs: WITHIN_MS });
  expectRefusal(answer, 408, 1007);
  expect(recordedMs(answer)).toBeGreaterThan(REQUEST_MS * 0.9);
  expect(await connection.ended()).toBe('');
  await dripping;
});

test.concurrent('an unfinished body behind a refusal ends the connection without a second answer', async ({
  expect,
}) => {
  await using connection = await rawConnection(api.url);
  connection.send(render({ headers: { Authorization: undefined, 'Content-Length': '60000' } }));
  expectRefusal(await connection.answer(), 401, 2000);
  const dripping = drip(connection, ' '.repeat(60_000));
  expect(await connection.ended(WITHIN_MS)).toBe('');
  await dripping;
});

test.concurrent('a connection on which nothing is said is closed', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  expect(await connection.ended(WITHIN_MS)).toMatch(/^(HTTP\/1\.1 408 .*)?$/s);
});

test.concurrent('an idle connection stays open for longer than a gateway keeps it, and is then closed', async ({
  expect,
}) => {
  await using connection = await rawConnection(api.url);
  connection.send(render({}));
  await connection.answer();
  const idle = performance.now();
  expect(await connection.ended(WITHIN_MS)).toBe('');
  expect(performance.now() - idle).toBeGreaterThan(2 * GATEWAY_IDLE_MS);
});

test.concurrent('200 slow clients hold nobody up: others are served while they wait', async ({ expect }) => {
  const slow = await Promise.all(Array.from({ length: 200 }, () => rawConnection(api.url)));
  for (const connection of slow) connection.send('POST /plants HTTP/1.1\r\nHost:');
  const cut = Promise.race(slow.map(({ closed }) => closed));
  const served = postPlant(api.url, { id: freshId(), name: 'quick' }).then(({ status }) => status);
  expect(await Promise.race([served, cut])).toBe(200);
  await Promise.all(slow.map((connection) => connection[Symbol.asyncDispose]()));
});
