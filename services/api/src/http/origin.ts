import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Creation } from '../domain/creation.ts';

/**
 * Where a request comes from. The gateway says in X-Request-Id-By who chose the request id, and is believed where its
 * address is a trusted proxy's; a client cannot say so through it, and for its own word there is `client`.
 */
export function originOf(request: FastifyRequest): Creation['origin'] {
  const { ips, headers, id } = request;
  // The one that no trusted proxy stands before is the last; without trusted proxies there is but the peer's.
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
