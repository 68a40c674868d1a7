import type { FastifyPluginAsync } from 'fastify';
import type { User } from '../access/accounts.ts';
import { signedInUser } from '../access/sessions.ts';
import { Refusal } from '../http/failures.ts';
import { sendPage } from '../http/send-page.ts';
import { failuresPage } from '../pages/failures-page.ts';
import type { FailuresReader } from './read-failures.ts';

export type FailurePagesOptions = { failures: FailuresReader };

/** What cannot be processed, by reason. */
export const failurePages: FastifyPluginAsync<FailurePagesOptions> = async (app, { failures }) => {
  app.get('/failures', async (request, reply) => {
    const found = await failures.read().catch((error: Error) => {
      throw new Refusal(503, 'MongoDB or Redis gave no good answer. Try again in a moment.', error);
    });
    return sendPage(reply, failuresPage(signedInUser(request) as User, found, new Date()));
  });
};
