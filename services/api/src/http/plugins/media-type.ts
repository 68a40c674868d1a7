import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';
import { parseExactJson } from '../exact-json.ts';

/** Accepts only JSON in UTF-8 without a content coding. Must be registered after the check of the access token. */
export const mediaType = plugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', (request, _reply, next) => {
    const { 'content-type': type, 'content-encoding': coding } = request.headers;
    const accepted =
      type !== undefined &&
      isJsonInUtf8(type) &&
      (coding === undefined || coding.toLowerCase() === 'identity');
    next(accepted ? undefined : new ApiError('unsupportedMediaType'));
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseExactJson(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
});

/** Longer than any accepted spelling has to be. */
const MEDIA_TYPE_CHARACTERS_MAX = 128;
const CHARSET_UTF8 = /^charset[ \t]*=[ \t]*(?:utf-8|"utf-8")$/;

/** `application/json`, alone or with `charset=utf-8` (JSON's only encoding, RFC 8259 §8.1); a final `;` is allowed. */
function isJsonInUtf8(header: string): boolean {
  if (header === 'application/json') return true;
  if (header.length > MEDIA_TYPE_CHARACTERS_MAX) return false;
  const [type, ...parameters] = header
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (parameters.at(-1) === '') parameters.pop();
  if (type !== 'application/json' || parameters.length > 1) return false;
  return parameters[0] === undefined || CHARSET_UTF8.test(parameters[0]);
}
