import { createBullBoard } from '@bull-board/api';
import { FastifyAdapter } from '@bull-board/fastify';
import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import type { Queue } from 'bullmq';
import type { FastifyError, FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Redis } from 'ioredis';
import { Refusal } from '../http/failures.ts';
import { isSafe } from '../http/requests.ts';
import { boardContentSecurity } from '../http/security-headers.ts';
import { JOB_STATES } from '../status/reading/queue-status.ts';
import { boardAppearance } from './board-appearance.ts';
import { BoardQueue } from './board-queue.ts';

export type BoardOptions = { queue: Queue; redis: Redis };

const BASE = '/board';

/**
 * Bull Board as a view of the raw queue, read-only for everyone: its own actions can limit a queue for ever and leave
 * no audit entry. The console's controls replace them.
 */
export const board: FastifyPluginAsync<BoardOptions> = async (app, options) => {
  app.get<{ Querystring: { status?: string } }>('/queue', async (request, reply) => {
    const state = JOB_STATES.find((known) => known === request.query.status);
    return reply.redirect(`${BASE}/queue/${CREATIONS_QUEUE}${state === undefined ? '' : `?status=${state}`}`);
  });
  await app.register(boardPages(options), { prefix: BASE });
};

function boardPages({ queue, redis }: BoardOptions): FastifyPluginAsync {
  return async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      if (!isSafe(request.method)) {
        throw new Refusal(403, 'The board only shows the queue. To change it, use Controls.');
      }
      reply.helmet(boardContentSecurity);
    });
    refuseWithoutRedis(app, redis);
    stripForeignFonts(app);

    const adapter = new FastifyAdapter().setBasePath(BASE);
    createBullBoard({
      queues: [new BoardQueue(queue)],
      serverAdapter: adapter,
      options: { uiConfig: boardAppearance },
    });
    app.setErrorHandler<FastifyError>((error) => {
      if (error instanceof Refusal || (error.statusCode ?? 500) < 500) throw error;
      throw new Refusal(503, 'Redis gave no good answer. Try again in a moment.', error);
    });
    /** Bull Board would answer with the error's own text; rethrown, it reaches the console's error handler. */
    adapter.setErrorHandler((error) => {
      throw error;
    });
    await app.register(adapter.registerPlugin());
  };
}

/** BullMQ waits for ever for a first connection, and the board shows an empty page: this answers with the reason. */
function refuseWithoutRedis(app: FastifyInstance, redis: Redis): void {
  app.addHook('onRequest', async (request) => {
    const isAsset = request.routeOptions.url?.includes('/static/') === true;
    if (redis.status === 'ready' || isAsset) return;
    throw new Refusal(503, 'Redis is unreachable: the queue shows again once it is back.');
  });
}

/** The board's page asks another company for its typeface. Operators' browsers talk to this console alone. */
function stripForeignFonts(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply, payload) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    // pattern-check: the page is Bull Board's own, and short
    return isPage && typeof payload === 'string' ? payload.replace(/<link href="https:[^>]*>/g, '') : payload;
  });
}
