import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Creation } from '../domain/creation.ts';

/**
 * Where a request comes from. The gateway says in X-Request-Id-By who chose the request id. The header counts only when
 * the request came through a trusted proxy; the gateway replaces whatever a client sends in it. In every other case a
 * given id is recorded as the client's.
 */
export function originOf(request: FastifyRequest): Creation['origin'] {
  const { ips, headers, id } = request;
  // The last address of `ips` is the first one that is not a trusted proxy. Without trusted proxies there is no `ips`,
  // and the address of the connection is used.
  const claimed = ips?.at(-1);
  const address =
    claimed !== undefined && isIP(claimed) !== 0 ? claimed : (request.socket.remoteAddress ?? '');
  return { address, request: id, requestBy: requestBy() };

  function requestBy(): Creation['origin']['requestBy'] {
    if (headers['x-request-id'] !== id) return 'api';
    const throughProxy = ips !== undefined && ips.length > 1;
    return throughProxy && headers['x-request-id-by'] === 'gateway' ? 'gateway' : 'client';
  }
}
