import Fastify from 'fastify';
import type { Registry } from 'prom-client';

export type InternalListener = { url: string; close: () => Promise<void> };

export type Health = {
  /** Whether the process should get work: false while it drains or while a required dependency is down. */
  ready: () => boolean | Promise<boolean>;
};

/**
 * The internal listener of a process, which only operators can reach: `/livez` (an answer means that the process
 * works), `/readyz`, `/metrics`. It is never exposed through the gateway.
 * @param port 0 takes a free one.
 */
export async function startInternalListener(
  { host, port }: { host: string; port: number },
  health: Health,
  metrics: Registry,
): Promise<InternalListener> {
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.get('/livez', async (_request, reply) => answer(reply, true));
  app.get('/readyz', async (_request, reply) => answer(reply, await health.ready()));
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
  const url = await app.listen({ host, port });
  return { url, close: () => app.close() };
}

function answer(
  reply: { code: (status: number) => { send: (body: unknown) => unknown } },
  good: boolean,
): unknown {
  return reply.code(good ? 200 : 503).send({ status: good ? 'ok' : 'unavailable' });
}
