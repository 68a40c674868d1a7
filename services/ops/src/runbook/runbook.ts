import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyPluginAsync } from 'fastify';
import { Marked } from 'marked';
import { gfmHeadingId } from 'marked-gfm-heading-id';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import { sendPage } from '../http/send-page.ts';
import { runbookPage } from '../pages/runbook-page.ts';

const source = join(import.meta.dirname, '../../../../docs/runbook.md');

/** docs/runbook.md as a page: findings link to its sections, also where no other page can be reached. */
export const runbook: FastifyPluginAsync = async (app) => {
  const article = new Marked(gfmHeadingId()).parse(readFileSync(source, 'utf8'), { async: false });
  app.get('/runbook', async (request, reply) =>
    sendPage(reply, runbookPage(signedInUser(request) as User, article)),
  );
};
