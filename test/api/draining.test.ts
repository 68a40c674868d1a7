import { expect, test } from 'vitest';
import { ready } from '../harness/api/api.ts';
import { freshId, plantJson } from '../harness/api/post-plant.ts';
import { token } from '../harness/api/tokens.ts';
import { type RawConnection, rawConnection } from '../harness/network/raw-http.ts';
import { startProgram } from '../harness/processes/program.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';

const NOTICE_MS = 3_000;

const environment = { ...testEnvironment(), DRAIN_MS: String(NOTICE_MS) };

test('on SIGTERM it is not ready first, then takes no connection, and only then tells clients to close theirs', async () => {
  await using api = await startProgram('api', environment);
  const { url, internalUrl: internal } = api;
  await ready(internal);
  await using connection = await rawConnection(url);
  const began = performance.now();

  api.signal('SIGTERM');
  await waitFor(async () => (await fetch(`${internal}/readyz`)).status === 503, {
    withinMs: NOTICE_MS,
    what: 'it is not ready',
  });
  expect(await create(connection)).toEqual({ status: 200, connection: 'keep-alive' });
  await using late = await rawConnection(url);
  expect(await create(late)).toEqual({ status: 200, connection: 'keep-alive' });

  await untilClosed(url);
  expect(performance.now() - began).toBeGreaterThanOrEqual(NOTICE_MS * 0.9);
  await Promise.all(
    [connection, late].map(async (open) => {
      expect(await create(open)).toEqual({ status: 200, connection: 'close' });
      expect(await open.ended()).toBe('');
    }),
  );
  expect((await api.ended).code).toBe(0);
});

test('a request that is still arriving while it drains is answered', async () => {
  await using api = await startProgram('api', environment);
  await ready(api.internalUrl);
  await using connection = await rawConnection(api.url);
  await create(connection);
  const body = plantJson({ id: freshId(), name: 'fern' });
  connection.send(head(body));
  api.signal('SIGTERM');
  await untilClosed(api.url);
  connection.send(body);
  expect((await connection.answer()).status).toBe(200);
  expect((await api.ended).code).toBe(0);
});

/** Waits until the listener takes no connection. */
function untilClosed(url: string): Promise<unknown> {
  const isClosed = () =>
    rawConnection(url).then(
      (opened) => opened[Symbol.asyncDispose]().then(() => false),
      () => true,
    );
  return waitFor(isClosed, { withinMs: 10_000, what: 'it takes no connection' });
}

async function create(
  connection: RawConnection,
): Promise<{ status: number; connection: string | undefined }> {
  const body = plantJson({ id: freshId(), name: 'fern' });
  connection.send(head(body) + body);
  const { status, headers } = await connection.answer();
  return { status, connection: headers.get('connection') };
}

function head(body: string): string {
  const lines = ['Host: a', `Authorization: Bearer ${token()}`, 'Content-Type: application/json'];
  return `POST /plants HTTP/1.1\r\n${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`;
}
