import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { refusingWhenFull } from './admission.ts';

const refused = vi.fn();
let server: Server;

/** Full, with a handler that answers everything with 204. */
beforeAll(async () => {
  const listener = refusingWhenFull(
    { admission: { isFull: () => true, refused }, closing: () => false },
    (_request, response) => void response.writeHead(204).end(),
  );
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

async function send(path: string, headers: Record<string, string | string[]> = {}) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, path, method: 'POST', headers: { Host: 'h', ...headers } }).end('{}');
  const [answer] = await once(sent, 'response');
  return { status: answer.statusCode, body: answer.statusCode === 204 ? undefined : await json(answer) };
}

test.each(['/plants', '/plants?a=b'])('a create is refused early: %s', async (path) => {
  refused.mockClear();
  const answer = await send(path, { 'X-Request-Id': 'the-one' });
  expect(answer).toMatchObject({ status: 503, body: { error: 5001 } });
  expect(refused).toHaveBeenCalledExactlyOnceWith('the-one');
});

test.each<[string, string, Record<string, string | string[]>]>([
  ['another path', '/elsewhere', {}],
  [
    'two Content-Type headers, after which the connection must be closed',
    '/plants',
    { 'Content-Type': ['a', 'b'] },
  ],
])('the handler answers a request with %s', async (_what, path, headers) => {
  refused.mockClear();
  expect((await send(path, headers)).status).toBe(204);
  expect(refused).not.toHaveBeenCalled();
});
