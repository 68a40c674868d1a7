import { setTimeout as pause } from 'node:timers/promises';
import formbody from '@fastify/formbody';
import rateLimit from '@fastify/rate-limit';
import type { Logger } from '@plant-store/platform/process/logger';
import type { FastifyPluginAsync, FastifyRequest, onRequestHookHandler } from 'fastify';
import { Refusal } from '../http/failures.ts';
import { wantsPage } from '../http/requests.ts';
import { sendPage } from '../http/send-page.ts';
import type { OpsMetrics } from '../metrics.ts';
import { signInPage } from '../pages/sign-in-page.ts';
import type { User } from './accounts.ts';
import type { Credentials } from './credentials.ts';
import type { OperatorSessions } from './session-store.ts';
import { signedInUser } from './sessions.ts';
import { slowDown } from './slow-down.ts';

/**
 * Tries a minute for one name from one address: enough for a person's slips, far too few for guessing. The pair is
 * counted, so that a guesser never locks out the right person at another address, nor others at the same one.
 */
const TRIES_PER_MINUTE = 10;
/** Tries a minute from one address, whatever the names: coarse, since many people may share an address. */
const ADDRESS_TRIES_PER_MINUTE = 60;
/** Pairs that are counted; the least recent are forgotten. */
const PAIRS_MAX = 50_000;
/** Tries that are delayed or hashed at once, each some tenths of a second of CPU and 16 MiB. */
const TRIES_AT_ONCE = 8;
/** More than enough for a name and a password. */
const FORM_BYTES_MAX = 4_096;

const WRONG = 'Name and password do not belong together.';

export type SignInOptions = {
  credentials: Credentials;
  store: OperatorSessions;
  tls: boolean;
  logger: Logger;
  metrics: OpsMetrics;
};

/** Signing in and out. Every other page sends those who are not signed in here. */
export const signIn: FastifyPluginAsync<SignInOptions> = async (
  app,
  { credentials, store, tls, logger, metrics },
) => {
  await app.register(formbody, { bodyLimit: FORM_BYTES_MAX });
  const slow = slowDown();
  let tries = 0;

  /** The user, if the password is right. Delay and hash count as one try, so that delays bound the rate of tries. */
  async function attempt(name: string, password: string): Promise<User | undefined> {
    if (tries >= TRIES_AT_ONCE) {
      metrics.signIns.inc({ outcome: 'throttled' });
      throw new Refusal(503, 'Too many people try to sign in at this moment. Try again.');
    }
    tries++;
    try {
      await pause(slow.delayMs());
      return await credentials.verify(name, password);
    } finally {
      tries--;
    }
  }
  await app.register(rateLimit, {
    global: false,
    // The name is in the body, which is read by then.
    hook: 'preHandler',
    cache: PAIRS_MAX,
    keyGenerator: (request) => `${request.ip} ${readForm(request).name}`,
    max: TRIES_PER_MINUTE,
    timeWindow: 60_000,
    onExceeded: throttled,
    errorResponseBuilder: (_request, { ttl }) => tooMany(ttl),
  });
  const perAddress = app.createRateLimit({
    max: ADDRESS_TRIES_PER_MINUTE,
    keyGenerator: (request) => request.ip,
  });

  function throttled(request: FastifyRequest): void {
    metrics.signIns.inc({ outcome: 'throttled' });
    logger.warn({ address: request.ip }, 'sign-in throttled');
  }

  /** Before the name is read: invented names would push those that count out of the memory of pairs. */
  const limitAddress: onRequestHookHandler = async (request, reply) => {
    const limit = await perAddress(request);
    if (limit.isAllowed || !limit.isExceeded) return;
    throttled(request);
    reply.header('retry-after', limit.ttlInSeconds);
    throw tooMany(limit.ttl);
  };

  app.get('/sign-in', async (request, reply) => {
    if (signedInUser(request) !== undefined) return reply.redirect('/', 303);
    return sendPage(reply, signInPage({}));
  });

  app.post('/sign-in', { onRequest: limitAddress, config: { rateLimit: {} } }, async (request, reply) => {
    if (tls && request.protocol !== 'https') {
      throw new Refusal(403, 'This console is reached over https: the proxy must send X-Forwarded-Proto.');
    }
    const { name, password } = readForm(request);
    const user = await attempt(name, password);
    const who = { user: credentials.knows(name) ? name : undefined, address: request.ip };
    if (user === undefined) {
      slow.refused();
      metrics.signIns.inc({ outcome: 'refused' });
      logger.warn(who, 'sign-in refused');
      if (!wantsPage(request)) throw new Refusal(401, WRONG);
      return sendPage(reply.code(401), signInPage({ name, problem: WRONG }));
    }
    /** A new session id, so that one planted before signing in is worth nothing after (session fixation). */
    await request.session.regenerate();
    request.session.user = user;
    metrics.signIns.inc({ outcome: 'accepted' });
    logger.info({ ...who, role: user.role }, 'signed in');
    return reply.redirect('/', 303);
  });

  app.post('/sign-out', async (request, reply) => {
    const user = signedInUser(request);
    await request.session.destroy();
    if (user !== undefined) logger.info({ user: user.name }, 'signed out');
    return reply.header('clear-site-data', '"cache"').redirect('/sign-in', 303);
  });

  app.post('/sign-out-everywhere', async (request, reply) => {
    const user = signedInUser(request);
    if (user === undefined) return reply.redirect('/sign-in', 303);
    store.endAll(user.name);
    await request.session.destroy();
    logger.info({ user: user.name }, 'signed out everywhere');
    return reply.header('clear-site-data', '"cache"').redirect('/sign-in', 303);
  });
};

function tooMany(ttlMs: number): Refusal {
  return new Refusal(429, `Too many tries to sign in. Wait ${Math.ceil(ttlMs / 1_000)} s, then try again.`);
}

function readForm({ body }: FastifyRequest): { name: string; password: string } {
  const form = (body ?? {}) as Record<string, unknown>;
  const text = (field: string) => (typeof form[field] === 'string' ? form[field] : '');
  return { name: text('name').trim(), password: text('password') };
}
