import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'vitest';
import { apiUnderTest } from '../../harness/api.ts';
import { freshId, postPlant } from '../../harness/post-plant.ts';
import { type RawConnection, rawConnection } from '../../harness/raw-http.ts';
import { expectRefusal } from '../../harness/refusal.ts';
import { render } from '../corpus/case.ts';

const api = apiUnderTest();

/** A head has to arrive within 5 s, a request within 10 s, an idle connection may wait 10 s; looked at each second. */
const HEAD_MS_MAX = 7_000;
const REQUEST_MS_MAX = 12_500;

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
  expectRefusal(await connection.answer({ withinMs: HEAD_MS_MAX }), 408, 1007);
  expect(await connection.ended()).toBe('');
  await dripping;
});

test.concurrent('a head that never ends is refused', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  connection.send('GET /\r\n');
  expectRefusal(await connection.answer({ withinMs: HEAD_MS_MAX }), 408, 1007);
  expect(await connection.ended()).toBe('');
});

test.concurrent('a body that drips in is refused', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  const request = render({ body: Buffer.alloc(60_000, ' ') }).toString('latin1');
  const body = request.indexOf('\r\n\r\n') + 4;
  connection.send(request.slice(0, body));
  const dripping = drip(connection, request.slice(body));
  expectRefusal(await connection.answer({ withinMs: REQUEST_MS_MAX }), 408, 1007);
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
  expect(await connection.ended(REQUEST_MS_MAX)).toBe('');
  await dripping;
});

test.concurrent('a connection on which nothing is said is closed', async ({ expect }) => {
  await using connection = await rawConnection(api.url);
  expect(await connection.ended(REQUEST_MS_MAX)).toMatch(/^(HTTP\/1\.1 408 .*)?$/s);
});

test.concurrent('an idle connection stays open for 10 s, longer than a gateway keeps it, and is then closed', async ({
  expect,
}) => {
  await using connection = await rawConnection(api.url);
  connection.send(render({}));
  await connection.answer();
  const idle = performance.now();
  expect(await connection.ended(REQUEST_MS_MAX)).toBe('');
  expect(performance.now() - idle).toBeGreaterThan(9_900);
});

test.concurrent('200 slow clients hold nobody up: others are served while they wait', async ({ expect }) => {
  const slow = await Promise.all(Array.from({ length: 200 }, () => rawConnection(api.url)));
  for (const connection of slow) connection.send('POST /plants HTTP/1.1\r\nHost:');
  const cut = Promise.race(slow.map(({ closed }) => closed));
  const served = postPlant(api.url, { id: freshId(), name: 'quick' }).then(({ status }) => status);
  expect(await Promise.race([served, cut])).toBe(200);
  await Promise.all(slow.map((connection) => connection[Symbol.asyncDispose]()));
});
