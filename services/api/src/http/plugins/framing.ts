import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError } from '../api-error.ts';

/** Headers that, sent twice, two servers could read differently. Node keeps the first; rawHeaders has all of them. */
const SINGLE: ReadonlyMap<string, string> = new Map([
  ['host', 'Host'],
  ['authorization', 'Authorization'],
  ['content-type', 'Content-Type'],
]);
const SINGLE_LENGTHS = new Set([...SINGLE.keys()].map((name) => name.length));

/** Any form of host and port that a URI may hold (RFC 3986 §3.2.2); empty where the target has none. */
const HOST = /^[A-Za-z0-9\-._~!$&'()*+,;=%:[\]]*$/;

/**
 * Refuses requests that the gateway and this server could read differently (request smuggling), before any other check.
 * The connection is closed, because the two servers could disagree about where the next request on it begins.
 */
export const framing = plugin(async (app: FastifyInstance) => {
  app.addHook('onRequest', (request, reply, next) => {
    const fault = ambiguity(request.raw);
    if (fault === undefined) return next();
    reply.header('connection', 'close');
    next(new ApiError('malformedRequest', fault));
  });
});

/** @returns how the request could be read differently, for the client; undefined when it cannot */
export function ambiguity(request: IncomingMessage): string | undefined {
  const { rawHeaders, headers, url = '' } = request;
  if (request.httpVersionMajor !== 1) return 'send HTTP/1.1';
  if (url.includes('#')) return 'the request target must not hold a fragment';

  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index] as string;
    // The length is compared first, since that is cheap and rules out most other headers.
    if (!SINGLE_LENGTHS.has(raw.length)) continue;
    const name = raw.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) return `send one ${SINGLE.get(name)} header`;
    seen.add(name);
  }
  if (headers.host === undefined) return 'send a Host header';
  if (!HOST.test(headers.host)) return 'the Host header names no host';
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  // RFC 9112 §6.1: a proxy that knows HTTP/1.0 alone would have taken the chunks for the next request.
  if (request.httpVersionMinor === 0) return 'Transfer-Encoding needs HTTP/1.1';
  return coding.toLowerCase() === 'chunked' ? undefined : 'the only known Transfer-Encoding is chunked';
}
