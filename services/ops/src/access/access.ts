import type { onRequestHookHandler } from 'fastify';
import { Refusal } from '../http/failures.ts';
import { isSafe, wantsPage } from '../http/requests.ts';
import { signedInUser } from './sessions.ts';

/** Lets signed-in people pass; others are sent to the sign-in page, or answered in JSON where they asked for no page. */
export const requireSignIn: onRequestHookHandler = async (request, reply) => {
  if (signedInUser(request) !== undefined) return;
  if (isSafe(request.method) && wantsPage(request)) return reply.redirect('/sign-in', 303);
  throw new Refusal(401, 'Sign in first.');
};
