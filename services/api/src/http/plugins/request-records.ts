import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { AnsweredRequest, ApiEvents } from '../../events.ts';

/** Reports every answered request to the metrics and the log: status, error and duration. */
export const requestRecords = plugin(async (app: FastifyInstance, options: { events: ApiEvents }) => {
  app.addHook('onResponse', (request, reply, next) => {
    options.events.answered(recordOf(request, reply));
    next();
  });
});

export function recordOf(request: FastifyRequest, reply: FastifyReply): AnsweredRequest {
  return {
    request: request.id,
    method: request.method,
    status: reply.statusCode,
    error: reply.refusedWith,
    ms: reply.elapsedTime,
  };
}
