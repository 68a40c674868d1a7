import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

/** The gateway's request id when it is well-formed, else a new one. */
export function requestId(request: IncomingMessage | undefined): string {
  const given = request?.headers['x-request-id'];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}

/** Every answer carries X-Request-Id. While the replica drains, it also carries `Connection: close`. */
export const requestIdentity = plugin(async (app: FastifyInstance, options: { closing: () => boolean }) => {
  app.addHook('onRequest', (request, reply, next) => {
    reply.header('x-request-id', request.id);
    if (options.closing()) reply.header('connection', 'close');
    next();
  });
});
