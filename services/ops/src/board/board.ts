import { createBullBoard } from '@bull-board/api';
import { FastifyAdapter } from '@bull-board/fastify';
import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import type { Logger } from '@plant-store/platform/logger';
import type { Queue } from 'bullmq';
import type { FastifyError, FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Redis } from 'ioredis';
import { requireOperator } from '../access/access.ts';
import { ROLES, type Role, type User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import { Refusal } from '../http/failures.ts';
import { boardContentSecurity } from '../http/security-headers.ts';
import type { OpsMetrics } from '../metrics.ts';
import { JOB_STATES } from '../status/queue-status.ts';
import { recordActions } from './action-log.ts';
import { boardAppearance } from './board-appearance.ts';
import { BoardQueue } from './board-queue.ts';

export type BoardOptions = { queue: Queue; redis: Redis; logger: Logger; metrics: OpsMetrics };

/**
 * Bull Board, once read-only for viewers and once whole for operators. Whatever an operator does there, no plant is
 * lost: a job only names commits, and the relay publishes again what stays pending.
 */
export const board: FastifyPluginAsync<BoardOptions> = async (app, options) => {
  app.get<{ Querystring: { status?: string } }>('/board', async (request, reply) => {
    const { role } = signedInUser(request) as User;
    const state = JOB_STATES.find((known) => known === request.query.status);
    return reply.redirect(
      `/board/${role}/queue/${CREATIONS_QUEUE}${state === undefined ? '' : `?status=${state}`}`,
    );
  });
  for (const role of ROLES) await app.register(boardFor(role, options), { prefix: `/board/${role}` });
};

function boardFor(role: Role, { queue, redis, logger, metrics }: BoardOptions): FastifyPluginAsync {
  const basePath = `/board/${role}`;
  return async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.helmet(boardContentSecurity);
    });
    if (role === 'operator') {
      app.addHook('onRequest', requireOperator);
      recordActions(app, { logger, metrics });
    }
    refuseWithoutRedis(app, redis);
    stripForeignFonts(app);

    const adapter = new FastifyAdapter().setBasePath(basePath);
    createBullBoard({
      queues: [new BoardQueue(queue, role === 'viewer')],
      serverAdapter: adapter,
      options: { uiConfig: boardAppearance(role) },
    });
    app.setErrorHandler<FastifyError>((error) => {
      if (error instanceof Refusal || (error.statusCode ?? 500) < 500) throw error;
      throw new Refusal(503, 'Redis gave no good answer. Try again in a moment.', error);
    });
    /** Bull Board would answer with the error's own text; thrown on, it meets the handlers around. */
    adapter.setErrorHandler((error) => {
      throw error;
    });
    await app.register(adapter.registerPlugin());
  };
}

/** BullMQ waits for a connection that was never there, and the board then shows an empty page: this says why. */
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
    // pattern-check: reads Bull Board's own page, which holds nothing of a job
    return isPage && typeof payload === 'string' ? payload.replace(/<link href="https:[^>]*>/g, '') : payload;
  });
}
