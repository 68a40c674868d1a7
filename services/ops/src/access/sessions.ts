import cookie from '@fastify/cookie';
import session, { type FastifySessionOptions } from '@fastify/session';
import type { FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { User } from './accounts.ts';
import type { OperatorSessions } from './session-store.ts';

declare module 'fastify' {
  interface Session {
    user?: User;
    /** Redis could not be asked whether this session exists. */
    unknown?: true;
  }
}

/** A working day, counted from sign-in. It is never extended, since an open status page sends requests for ever. */
export const SESSION_MS_MAX = 10 * 3_600_000;

/** A session's id, as the plugin makes it: 192 random bits. */
const ID = /^[\w-]{32}$/;

/**
 * The cookie is the id alone, unsigned: an id that was not made here is found nowhere, and a signing key would have to
 * outlive this process as well.
 */
const unsigned = {
  sign: (id: string) => id,
  unsign: (id: string) => ({ valid: ID.test(id), renew: false, value: id }),
};

/** Sessions, named by a cookie that scripts cannot read and other sites cannot send. */
export const sessions = fastifyPlugin<{ tls: boolean; store: OperatorSessions }>(
  async (app, { tls, store }) => {
    const options: FastifySessionOptions = {
      secret: unsigned,
      cookieName: tls ? '__Host-ops' : 'ops',
      cookie: { path: '/', httpOnly: true, sameSite: 'strict', secure: tls, maxAge: SESSION_MS_MAX },
      store,
      saveUninitialized: false,
      rolling: false,
    };
    await app.register(cookie);
    await app.register(session, options);
  },
);

/**
 * Whether the session that began a long answer still exists: it ends by signing out, or by its age, and not while it
 * cannot be looked up.
 */
export function sessionLasts({ session, sessionStore }: FastifyRequest): Promise<boolean> {
  return new Promise((resolve) => {
    sessionStore.get(session.sessionId, (error, found) =>
      resolve(error == null && (found?.user !== undefined || found?.unknown === true)),
    );
  });
}

/** Whether it cannot be told who is signed in. */
export function isSessionUnknown(request: FastifyRequest): boolean {
  return (request.session as FastifyRequest['session'] | null)?.unknown === true;
}

/** Who is signed in; undefined for everyone else. */
export function signedInUser(request: FastifyRequest): User | undefined {
  return (request.session as FastifyRequest['session'] | null)?.user;
}
