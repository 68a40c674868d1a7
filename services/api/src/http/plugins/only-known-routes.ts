import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';

/**
 * Answers unknown paths and methods before anything else of the request is judged. Without it Fastify would read and
 * parse the body of a request that leads nowhere.
 */
export const onlyKnownRoutes = plugin(async (app: FastifyInstance, options: { paths: readonly string[] }) => {
  app.addHook('onRequest', (request, _reply, next) => {
    if (!request.is404) return next();
    // Decoded as the router does, which has answered what cannot be decoded.
    const path = decodeURI(request.url.split('?', 1)[0] as string);
    next(new ApiError(options.paths.includes(path) ? 'methodNotAllowed' : 'pathUnknown'));
  });
});
