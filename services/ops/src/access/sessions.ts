import { randomBytes } from 'node:crypto';
import cookie from '@fastify/cookie';
import session, { type FastifySessionOptions } from '@fastify/session';
import type { FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { User } from './accounts.ts';
import { memorySessions } from './session-store.ts';

declare module 'fastify' {
  interface Session {
    user?: User;
  }
}

/** A working day, counted from sign-in. It is never extended, since an open status page sends requests for ever. */
const LIFETIME_MS = 10 * 3_600_000;

/**
 * Sessions in this process' memory, named by a signed cookie that scripts cannot read and other sites cannot send.
 * The console runs once per system; after a restart everyone signs in again, so the signing key is made at start.
 */
export const sessions = fastifyPlugin<{ tls: boolean }>(async (app, { tls }) => {
  const options: FastifySessionOptions = {
    secret: randomBytes(32).toString('base64url'),
    cookieName: tls ? '__Host-ops' : 'ops',
    cookie: { path: '/', httpOnly: true, sameSite: 'strict', secure: tls, maxAge: LIFETIME_MS },
    store: memorySessions(LIFETIME_MS),
    saveUninitialized: false,
    rolling: false,
  };
  await app.register(cookie);
  await app.register(session, options);
});

/** Whether the session that began a long answer still exists: it ends by signing out, or by its age. */
export function sessionLasts({ session, sessionStore }: FastifyRequest): Promise<boolean> {
  return new Promise((resolve) => {
    sessionStore.get(session.sessionId, (error, found) =>
      resolve(error == null && found?.user !== undefined),
    );
  });
}

/** Who is signed in; undefined for everyone else. */
export function signedInUser(request: FastifyRequest): User | undefined {
  return (request.session as FastifyRequest['session'] | null)?.user;
}
