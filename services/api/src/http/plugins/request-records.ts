import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { AnsweredRequest, ApiEvents } from '../../events.ts';

/** Reports every answered request to the metrics and the log: status, error, duration, and the path of a refusal. */
export const requestRecords = plugin(async (app: FastifyInstance, options: { events: ApiEvents }) => {
  app.addHook('onResponse', (request, reply, next) => {
    options.events.answered(recordOf(request, reply), !request.is404);
    next();
  });
});

export function recordOf(request: FastifyRequest, reply: FastifyReply): AnsweredRequest {
  return {
    request: request.id,
    method: request.method,
    ...(reply.statusCode >= 400 && { path: pathOf(request.url) }),
    status: reply.statusCode,
    error: reply.refusedWith,
    ms: reply.elapsedTime,
  };
}

/** Longer paths are nobody's by mistake. */
const PATH_CHARACTERS_MAX = 200;

/** Without the query, in which clients may send tokens. */
export function pathOf(url: string): string {
  return (url.split('?', 1)[0] as string).slice(0, PATH_CHARACTERS_MAX);
}
