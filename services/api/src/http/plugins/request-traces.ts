import type { Span, Tracing } from '@plant-store/platform/tracing/tracing';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';

declare module 'fastify' {
  interface FastifyRequest {
    /** The request as a step of a trace; undefined where nothing is traced. */
    span: Span | undefined;
  }
}

/** W3C Trace Context §3.2, version 00 and those that extend it. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{1,64})?$/;

/** Makes each request for a known route a step of the client's trace, or the beginning of one. */
export const requestTraces = plugin(
  async (app: FastifyInstance, { tracing }: { tracing: Tracing | undefined }) => {
    app.decorateRequest('span', undefined);
    if (tracing === undefined) return;

    app.addHook('onRequest', (request, reply, next) => {
      if (!request.is404) {
        const { method, id } = request;
        const route = request.routeOptions.url ?? '';
        const span = tracing.start(`${method} ${route}`, {
          kind: 'server',
          parent: clientTraceparent(request),
          attributes: { 'http.request.method': method, 'http.route': route, 'plants.request': id },
        });
        request.span = span;
        // The hook onResponse does not run when the client hangs up, and the span would never end.
        reply.raw.once('close', () => {
          if (!reply.raw.writableEnded) {
            span.end('the client hung up before its answer');
            return;
          }
          const { statusCode, refusedWith } = reply;
          span.set({ 'http.response.status_code': statusCode, 'plants.error': refusedWith });
          span.end(statusCode >= 500 ? `answered with ${statusCode}` : undefined);
        });
      }
      next();
    });
  },
);

/** The trace context that is handed on with the creation: the request's own step, else the client's. */
export function traceparentOf(request: FastifyRequest): string | undefined {
  return request.span === undefined ? clientTraceparent(request) : request.span.traceparent;
}

function clientTraceparent({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}
