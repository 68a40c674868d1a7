import type { FastifyPluginAsync } from 'fastify';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import type { Monitor } from '../monitor/monitor.ts';
import { statusPage } from '../pages/status-page.ts';
import { statusWords } from './status-words.ts';

/** The start page, and what it refreshes itself from. */
export const statusPages: FastifyPluginAsync<{ monitor: Monitor }> = async (app, { monitor }) => {
  app.get('/', async (request, reply) => {
    const words = statusWords(await monitor.current(), new Date());
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(statusPage(signedInUser(request) as User, words));
  });

  app.get('/status', async (_request, reply) => {
    return reply.header('cache-control', 'no-store').send(statusWords(await monitor.current(), new Date()));
  });
};
