import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';

/**
 * Refuses requests that two servers in a row could read differently. Node lets several Host or Authorization headers
 * pass and keeps the first one; rawHeaders shows them all.
 */
export const framing = plugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', (request, _reply, next) => {
    next(ambiguity(request));
  });
});

function ambiguity(request: FastifyRequest): ApiError | undefined {
  const { rawHeaders } = request.raw;
  let hosts = 0;
  let authorizations = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    // Names are compared by length first: nearly all headers are neither.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (hosts !== 1) return new ApiError('malformedRequest', `send one Host header, not ${hosts}`);
  if (authorizations > 1) return new ApiError('malformedRequest', 'send one Authorization header');
  return undefined;
}
