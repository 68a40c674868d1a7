import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { AnsweredRequest, ApiEvents } from '../../events.ts';

/**
 * Reports every request to the metrics and the log: status, error, duration, and the path of a refusal; also a request
 * whose client hung up before its answer. Fastify's hook `onResponse` runs for answers that were sent alone, so the
 * response's `close` is used, which comes once in both cases.
 */
export const requestRecords = plugin(async (app: FastifyInstance, options: { events: ApiEvents }) => {
  app.addHook('onRequest', (request, reply, next) => {
    const startedAt = performance.now();
    reply.raw.once('close', () => {
      const ms = performance.now() - startedAt;
      if (reply.raw.writableEnded) options.events.answered(recordOf(request, reply, ms), !request.is404);
      else
        options.events.hungUp({ request: request.id, method: request.method, path: pathOf(request.url), ms });
    });
    next();
  });
});

export function recordOf(request: FastifyRequest, reply: FastifyReply, ms: number): AnsweredRequest {
  return {
    request: request.id,
    method: request.method,
    ...(reply.statusCode >= 400 && { path: pathOf(request.url) }),
    status: reply.statusCode,
    error: reply.refusedWith,
    ms,
  };
}

/** Longer paths are nobody's by mistake. */
const PATH_CHARACTERS_MAX = 200;

/** Without the query, in which clients may send tokens. */
export function pathOf(url: string): string {
  return (url.split('?', 1)[0] as string).slice(0, PATH_CHARACTERS_MAX);
}
