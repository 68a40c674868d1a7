import type { FastifyRequest, onRequestHookHandler } from 'fastify';
import { Refusal } from './failures.ts';
import { isSafe } from './requests.ts';

/**
 * Refuses requests that another site makes a browser send (cross-site request forgery). It relies on headers that
 * browsers set and scripts cannot forge. The rule of Go's net/http CrossOriginProtection: safe methods pass; else
 * Sec-Fetch-Site decides; else (old browsers, plain HTTP) Origin must name this host; a request with neither comes
 * from no browser and carries no cookie that anyone else could have lent it.
 * @param origin as operators' browsers show it; absent, the Host of each request counts.
 */
export function refuseCrossSite(origin: string | undefined): onRequestHookHandler {
  return async (request) => {
    if (isSafe(request.method) || isOwnRequest(request, origin)) return;
    throw new Refusal(403, 'This request came from another site and was refused.');
  };
}

function isOwnRequest({ headers, host }: FastifyRequest, expected: string | undefined): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';

  const { origin } = headers;
  if (origin === undefined) return true;
  if (expected !== undefined) return origin === expected;
  return URL.canParse(origin) && new URL(origin).host === host;
}
