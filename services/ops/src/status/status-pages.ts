import type { FastifyPluginAsync } from 'fastify';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import type { History } from '../history/history.ts';
import { PLOTS } from '../history/plots.ts';
import { timelineWords } from '../history/timeline-words.ts';
import { sendPage } from '../http/send-page.ts';
import type { Monitor } from '../monitor/monitor.ts';
import { plotsPage } from '../pages/plots-page.ts';
import { statusPage } from '../pages/status-page.ts';
import { statusWords } from './status-words.ts';

/** The start page, the page of the plots, and the status alone, for pages that get no stream and for commands. */
export const statusPages: FastifyPluginAsync<{ monitor: Monitor; history: History }> = async (
  app,
  { monitor, history },
) => {
  const pages = { '/': statusPage, '/plots': plotsPage };
  for (const [path, page] of Object.entries(pages)) {
    app.get(path, async (request, reply) => {
      const parts = {
        words: statusWords(await monitor.current(), new Date()),
        plots: PLOTS,
        newest: history.newest(),
        events: timelineWords(history.events()),
      };
      return sendPage(reply, page(signedInUser(request) as User, parts));
    });
  }

  app.get('/status', async (_request, reply) => {
    return reply.header('cache-control', 'no-store').send(statusWords(await monitor.current(), new Date()));
  });
};
