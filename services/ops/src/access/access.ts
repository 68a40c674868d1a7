import type { onRequestHookHandler } from 'fastify';
import { Refusal } from '../http/failures.ts';
import { isSafe, wantsPage } from '../http/requests.ts';
import { isSessionUnknown, signedInUser } from './sessions.ts';

/** Admits people who are signed in. Others are redirected to the sign-in page, or get JSON if they asked for it. */
export const requireSignIn: onRequestHookHandler = async (request, reply) => {
  if (signedInUser(request) !== undefined) return;
  if (isSessionUnknown(request)) {
    throw new Refusal(
      503,
      'Redis does not answer, so it cannot be told whether you are signed in. Try again in a moment, or sign in again at /sign-in.',
    );
  }
  if (isSafe(request.method) && wantsPage(request)) return reply.redirect('/sign-in', 303);
  throw new Refusal(401, 'Sign in first.');
};
