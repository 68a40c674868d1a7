import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';
import { parseExactJson } from '../exact-json.ts';

/** `application/json`, bare or with the charset that JSON is in anyway (RFC 8259 §8.1). */
const JSON_UTF8 = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?;?\s*$/i;

/** Takes JSON in UTF-8 without a content coding, and nothing else. Has to come after the token is judged. */
export const mediaType = plugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', (request, _reply, next) => {
    const { 'content-type': type, 'content-encoding': coding } = request.headers;
    const accepted =
      type !== undefined &&
      JSON_UTF8.test(type) &&
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
