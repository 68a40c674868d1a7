import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * An HTTP server behind the gateway that shows what reached it and, told so by `x-do`, fails as an API replica can.
 * `GET /seen` on its own port: how many requests arrived, and how long a connection of the gateway had been idle when
 * the gateway closed it.
 */
const LATE_MS = 1_500;
let posts = 0;
let late = 0;
let gatewayIdleMs: number | undefined;
const answeredAt = new WeakMap<Socket, number>();

// Whatever passes the gateway reaches it.
const server = createServer({ maxHeaderSize: 32 * 1024 }, (request, response) => {
  if (request.url === '/seen') return sendJson(response, { posts, late, gatewayIdleMs });
  posts++;
  void answer(request, response);
});
// Longer than any test, as the API's is longer than the gateway's: it is the gateway that closes.
server.keepAliveTimeout = 60_000;
server.on('connection', (socket) => {
  socket.once('end', () => {
    const since = answeredAt.get(socket);
    if (since !== undefined) gatewayIdleMs = Math.round(performance.now() - since);
  });
});
const backlog = Number(process.env['BACKLOG']);
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', backlog, () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let bytes = 0;
  for await (const chunk of request) bytes += (chunk as Buffer).length;
  switch (request.headers['x-do']) {
    case 'hang':
      return;
    case 'reset':
      request.socket.resetAndDestroy();
      return;
    case 'close':
      request.socket.destroy();
      return;
    case 'garbage':
      request.socket.end('this is no HTTP\r\n\r\n');
      return;
    case 'answer-late':
      late++;
      await pause(LATE_MS);
      return sendJson(response, {});
    case 'refuse':
      response.setHeader('retry-after', '7');
      response.setHeader('allow', 'PATCH');
      return sendJson(response, { error: 5001, message: 'own words' }, Number(request.headers['x-status']));
    default:
      response.setHeader('x-request-id', 'from-the-upstream');
      sendJson(response, {
        method: request.method,
        url: request.url,
        bytes,
        port: request.socket.localPort,
        headers: request.rawHeaders,
      });
  }
}

function sendJson(response: ServerResponse, body: object, status = 200): void {
  const text = JSON.stringify(body);
  // Before the gateway can have it.
  if (response.req.url !== '/seen') answeredAt.set(response.req.socket, performance.now());
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
