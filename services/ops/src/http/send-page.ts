import type { FastifyReply } from 'fastify';

/** Pages show what is stored now, so none is kept by a browser or a proxy. */
export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'no-store').send(html);
}
