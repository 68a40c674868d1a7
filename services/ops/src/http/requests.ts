import type { FastifyRequest } from 'fastify';

/** Methods that change nothing (RFC 9110 §9.2.1) and that this console answers. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** Whether a browser asks for a page; scripts and the board's own requests get JSON. */
export function wantsPage(request: FastifyRequest): boolean {
  return request.headers.accept?.includes('text/html') === true;
}
