import type { FastifyError, FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError, refuse } from '../api-error.ts';
import { describeViolation } from '../schema-keywords.ts';

declare module 'fastify' {
  interface FastifyReply {
    /** The catalogue's number, where the answer is a refusal. */
    refusedWith: number;
  }
}

/** Errors of Fastify and Node that a request can cause, by code. Any other error that is no ApiError is a defect. */
const FASTIFY_ERRORS: Record<string, (error: FastifyError) => ApiError> = {
  FST_ERR_VALIDATION: ({ validation }) =>
    new ApiError('invalidPlant', validation?.[0] && describeViolation(validation[0] as never)),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new ApiError('bodyTooLarge'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new ApiError('unsupportedMediaType'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new ApiError('malformedJson'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new ApiError('malformedRequest', 'the body is shorter or longer than Content-Length says'),
  // The request's connection: no other connection's error reaches the error handler.
  ECONNRESET: () => new ApiError('malformedRequest', 'the connection ended before the body did'),
  FST_ERR_BAD_URL: () => new ApiError('malformedRequest', 'the request target is malformed'),
};

/** Turns every error into an answer from the error catalogue, so that no internal detail reaches the client. */
export const errorAnswers = plugin(
  async (app: FastifyInstance, options: { onDefect: (error: unknown) => void }) => {
    app.decorateReply('refusedWith', 0);
    app.setErrorHandler((error: FastifyError | ApiError, _request, reply) =>
      refuse(reply, toRefusal(error, options.onDefect)),
    );
    // Not reached while the plugin onlyKnownRoutes refuses unknown paths first.
    app.setNotFoundHandler((_request, reply) => refuse(reply, new ApiError('pathUnknown')));
  },
);

export function toRefusal(error: FastifyError | ApiError, onDefect: (error: unknown) => void): ApiError {
  if (error instanceof ApiError) return error;
  const known = FASTIFY_ERRORS[error.code]?.(error);
  if (known !== undefined) return known;
  onDefect(error);
  return new ApiError('internal');
}
