import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { SessionStore } from '@fastify/session';
import { within } from '@plant-store/platform/concurrency/within';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Account, User } from './accounts.ts';

/** More than enough for the operators of one system. Beyond it, the least recently used is asked of Redis again. */
const HELD_MAX = 1_000;
/** A Redis that hangs delays nobody who is signed in, and others no longer than this. */
const READ_MS_MAX = 1_000;

export type OperatorSessions = Disposable &
  SessionStore & {
    /** Ends every session of a user, wherever it began. */
    endAll: (user: string) => void;
  };

/** `key` is the hash of the session's id: whoever reads it in Redis cannot use the session. */
type Held = { key: string; user: string; endsAt: number };

/** What Redis keeps. The code is made with the user's password hash, which Redis does not have. */
type Stored = { user: string; endsAt: number; code: string };

/**
 * The sessions of the console, which runs once per system: held in memory, and kept in Redis so that they survive a
 * restart of the console.
 * - While Redis is away everything works on what memory holds; Redis is brought up to date when it is back.
 * - Redis is shared with API and workers, which are not trusted to sign anyone in: a stored session counts only with a
 *   code that takes the user's password hash to make. So a session also ends with the password it began with.
 */
export function operatorSessions(deps: {
  redis: Redis;
  prefix: string;
  lifetimeMs: number;
  accounts: readonly Account[];
}): OperatorSessions {
  const { redis, prefix, lifetimeMs } = deps;
  const accounts = new Map(deps.accounts.map((account) => [account.name, account]));
  const held = new LRUCache<string, Held>({ max: HELD_MAX });
  /** What Redis has not been told yet. */
  const untold = { ended: new Map<string, Held>(), endedUsers: new Set<string>() };

  const sessionKey = (key: string) => `${prefix}:ops-session:${key}`;
  const userKey = (user: string) => `${prefix}:ops-sessions-of:${user}`;

  function codeOf({ phc }: Account, { key, user, endsAt }: Held): string {
    return createHmac('sha256', phc).update(`ops session ${key} ${user} ${endsAt}`).digest('base64url');
  }

  async function keep(session: Held): Promise<void> {
    const account = accounts.get(session.user);
    const leftMs = session.endsAt - Date.now();
    if (account === undefined || leftMs <= 0) return;
    const { key, user, endsAt } = session;
    const stored: Stored = { user, endsAt, code: codeOf(account, session) };
    await redis
      .multi()
      .set(sessionKey(key), JSON.stringify(stored), 'PX', leftMs)
      .sadd(userKey(user), key)
      .pexpire(userKey(user), lifetimeMs)
      .exec();
  }

  async function removeOne(session: Held): Promise<void> {
    untold.ended.set(session.key, session);
    await redis.multi().del(sessionKey(session.key)).srem(userKey(session.user), session.key).exec();
    untold.ended.delete(session.key);
  }

  async function removeAll(user: string): Promise<void> {
    untold.endedUsers.add(user);
    const keys = await redis.smembers(userKey(user));
    const gone = keys.filter((key) => held.get(key)?.user !== user);
    if (gone.length > 0)
      await redis
        .multi()
        .del(...gone.map(sessionKey))
        .srem(userKey(user), ...gone)
        .exec();
    untold.endedUsers.delete(user);
  }

  /** Redis is back, perhaps without its data. */
  async function tellAll(): Promise<void> {
    for (const user of untold.endedUsers) await removeAll(user);
    for (const session of untold.ended.values()) await removeOne(session);
    for (const session of held.values()) await keep(session);
  }

  /** What fails is told again when Redis is back, whose outage is logged elsewhere. */
  const inBackground = (work: Promise<void>) => void work.catch(() => {});
  const onReady = () => inBackground(tellAll());
  redis.on('ready', onReady);

  /** Just after the start, Redis is still being connected to. */
  async function readStored(key: string): Promise<string | null> {
    try {
      if (redis.status !== 'ready') await once(redis, 'ready', { signal: AbortSignal.timeout(READ_MS_MAX) });
      return await redis.get(sessionKey(key));
    } catch {
      return null;
    }
  }

  /** Sessions that began before this process did. */
  async function recall(key: string): Promise<Held | undefined> {
    if (untold.ended.has(key)) return undefined;
    const text = await within(READ_MS_MAX, readStored(key), null);
    const session = text === null ? undefined : authentic(key, text);
    if (session === undefined || untold.endedUsers.has(session.user)) return undefined;
    held.set(key, session);
    return session;
  }

  function authentic(key: string, text: string): Held | undefined {
    const { user, endsAt, code } = parsed(text);
    const account = accounts.get(user);
    if (account === undefined) return undefined;
    const session = { key, user, endsAt };
    const [expected, given] = [codeOf(account, session), code].map((each) => Buffer.from(each));
    const matches =
      expected?.length === given?.length && timingSafeEqual(expected as Buffer, given as Buffer);
    return matches ? session : undefined;
  }

  async function find(id: string): Promise<{ session: Held; user: User } | undefined> {
    const key = keyOf(id);
    const session = held.get(key) ?? (await recall(key));
    const account = session && accounts.get(session.user);
    if (session === undefined || account === undefined) return undefined;
    if (session.endsAt <= Date.now()) {
      held.delete(key);
      return undefined;
    }
    return { session, user: { name: account.name, role: account.role } };
  }

  return {
    set(id, { user }, done) {
      // Nobody has signed in to it yet: nothing is kept.
      if (user === undefined) return done();
      const session = { key: keyOf(id), user: user.name, endsAt: Date.now() + lifetimeMs };
      held.set(session.key, session);
      inBackground(keep(session));
      done();
    },

    get(id, done) {
      find(id).then(
        (found) => {
          if (found === undefined) return done(null, null);
          const cookie = { originalMaxAge: lifetimeMs, expires: new Date(found.session.endsAt) };
          done(null, { cookie, user: found.user });
        },
        (error) => done(error),
      );
    },

    destroy(id, done) {
      const key = keyOf(id);
      const session = held.get(key);
      held.delete(key);
      if (session !== undefined) inBackground(removeOne(session));
      done();
    },

    endAll(user) {
      for (const session of [...held.values()]) if (session.user === user) held.delete(session.key);
      inBackground(removeAll(user));
    },

    [Symbol.dispose]: () => void redis.off('ready', onReady),
  };
}

function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

function parsed(text: string): Stored {
  try {
    const { user, endsAt, code } = JSON.parse(text) as Record<string, unknown>;
    return { user: String(user), endsAt: Number(endsAt), code: String(code) };
  } catch {
    return { user: '', endsAt: 0, code: '' };
  }
}
