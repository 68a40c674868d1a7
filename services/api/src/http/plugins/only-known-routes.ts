import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';

/**
 * Refuses unknown paths and methods before the token, the media type and the body are checked. Without it Fastify would
 * read and parse the body of a request that no route handles.
 */
export const onlyKnownRoutes = plugin(async (app: FastifyInstance, options: { paths: readonly string[] }) => {
  app.addHook('onRequest', (request, _reply, next) => {
    if (!request.is404) return next();
    // Decoded as the router does. It cannot throw: the router has already refused paths that cannot be decoded.
    const path = decodeURI(request.url.split('?', 1)[0] as string);
    next(new ApiError(options.paths.includes(path) ? 'methodNotAllowed' : 'pathUnknown'));
  });
});
