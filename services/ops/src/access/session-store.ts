import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { SessionStore } from '@fastify/session';
import { within } from '@plant-store/platform/concurrency/within';
import type { Session } from 'fastify';
import type { ChainableCommander, Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Account } from './accounts.ts';

/** More than enough for the operators of one system. Beyond it, the least recently used is asked of Redis again. */
const HELD_MAX = 1_000;
const ENDED_MAX = 10_000;
/** A Redis that is away or hangs delays nobody whose session is held, and others no longer than this. */
const READ_MS_MAX = 1_000;
/** Interval for telling Redis again what it has not confirmed. */
const TELL_MS = 5_000;

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
 * - While Redis is away everything works on what memory holds; Redis is told until it confirms. A session that is not in
 *   memory is then `unknown`: neither signed in nor signed out.
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
  /** Keys that ended here, for as long as they could have lasted: after a failover Redis may have them again. */
  const ended = new LRUCache<string, string | true>({ max: ENDED_MAX, ttl: lifetimeMs, noUpdateTTL: true });
  /** When all sessions of a user were ended. */
  const endedUsers = new Map<string, number>();
  /** What Redis has not confirmed, by what it is about. */
  const untold = new Map<string, () => Promise<void>>();

  const sessionKey = (key: string) => `${prefix}:ops-session:${key}`;
  const userKey = (user: string) => `${prefix}:ops-sessions-of:${user}`;

  function tell(about: string, task: () => Promise<void>): void {
    untold.set(about, task);
    void attempt(about, task);
  }

  /** What fails is told again by the timer, and when Redis is back; its outage is logged elsewhere. */
  async function attempt(about: string, task: () => Promise<void>): Promise<void> {
    const confirmed = await task().then(
      () => true,
      () => false,
    );
    if (confirmed && untold.get(about) === task) untold.delete(about);
  }

  function tellAgain(): void {
    if (redis.status !== 'ready') return;
    for (const [about, task] of untold) void attempt(about, task);
  }

  function codeOf({ phc }: Account, { key, user, endsAt }: Held): string {
    return createHmac('sha256', phc).update(`ops session ${key} ${user} ${endsAt}`).digest('base64url');
  }

  function keep(session: Held): void {
    const { key, user, endsAt } = session;
    const account = accounts.get(user);
    if (account === undefined) return;
    tell(`keep ${key}`, async () => {
      const leftMs = endsAt - Date.now();
      if (leftMs <= 0) return;
      const stored: Stored = { user, endsAt, code: codeOf(account, session) };
      await done(
        redis
          .multi()
          .set(sessionKey(key), JSON.stringify(stored), 'PX', leftMs)
          .sadd(userKey(user), key)
          .pexpire(userKey(user), lifetimeMs),
      );
    });
  }

  /** @param user true when it is not known whose it was */
  function end(key: string, user: string | true): void {
    held.delete(key);
    ended.set(key, user);
    untold.delete(`keep ${key}`);
    tell(`end ${key}`, () => {
      const removal = redis.multi().del(sessionKey(key));
      return done(user === true ? removal : removal.srem(userKey(user), key));
    });
  }

  function endAll(user: string): void {
    endedUsers.set(user, Date.now());
    for (const session of [...held.values()]) {
      if (session.user !== user) continue;
      held.delete(session.key);
      untold.delete(`keep ${session.key}`);
    }
    tellEndOfAll(user);
  }

  function tellEndOfAll(user: string): void {
    tell(`end all ${user}`, async () => {
      const keys = await redis.smembers(userKey(user));
      // Those that are held began later.
      const gone = keys.filter((key) => held.get(key)?.user !== user);
      if (gone.length > 0) {
        await done(
          redis
            .multi()
            .del(...gone.map(sessionKey))
            .srem(userKey(user), ...gone),
        );
      }
    });
  }

  let whenReady: (isReady: boolean) => void = () => {};
  let becoming: Promise<boolean> | undefined;

  /** Whether Redis is connected, or becomes so within a second: just after the start it is still being connected to. */
  function isReady(): Promise<boolean> {
    if (redis.status === 'ready') return Promise.resolve(true);
    becoming ??= within(
      READ_MS_MAX,
      new Promise<boolean>((resolve) => {
        whenReady = resolve;
      }),
      false,
    ).finally(() => {
      becoming = undefined;
    });
    return becoming;
  }

  /** Redis is back, perhaps without its data, perhaps with older data. */
  function onReady(): void {
    whenReady(true);
    for (const user of endedUsers.keys()) tellEndOfAll(user);
    for (const [key, user] of [...ended.entries()]) end(key, user);
    for (const session of held.values()) keep(session);
  }
  redis.on('ready', onReady);
  const timer = setInterval(tellAgain, TELL_MS).unref();

  /** What Redis holds; null: nothing; undefined: it could not be asked. */
  async function readStored(key: string): Promise<string | null | undefined> {
    if (!(await isReady())) return undefined;
    return await redis.get(sessionKey(key)).catch(() => undefined);
  }

  /** A session that this process does not hold, such as one that began before its start. */
  async function recall(key: string): Promise<Held | 'unknown' | undefined> {
    if (ended.has(key)) return undefined;
    const text = await within(READ_MS_MAX, readStored(key), undefined);
    if (text === undefined) return 'unknown';
    const session = text === null ? undefined : authentic(key, text);
    if (session === undefined || ended.has(key)) return undefined;
    const began = session.endsAt - lifetimeMs;
    if (began <= (endedUsers.get(session.user) ?? Number.NEGATIVE_INFINITY)) return undefined;
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

  async function find(id: string): Promise<Session | null> {
    const key = keyOf(id);
    const session = held.get(key) ?? (await recall(key));
    if (session === 'unknown') return { cookie: cookieUntil(Date.now() + lifetimeMs), unknown: true };
    const account = session && accounts.get(session.user);
    if (session === undefined || account === undefined) return null;
    if (session.endsAt <= Date.now()) {
      held.delete(key);
      return null;
    }
    return { cookie: cookieUntil(session.endsAt), user: { name: account.name, role: account.role } };
  }

  const cookieUntil = (endsAt: number) => ({ originalMaxAge: lifetimeMs, expires: new Date(endsAt) });

  return {
    set(id, { user }, done) {
      // Nobody has signed in to it yet: nothing is kept.
      if (user !== undefined) {
        const session = { key: keyOf(id), user: user.name, endsAt: Date.now() + lifetimeMs };
        held.set(session.key, session);
        keep(session);
      }
      done();
    },

    get(id, done) {
      find(id).then(
        (session) => done(null, session),
        (error) => done(error),
      );
    },

    destroy(id, done) {
      const key = keyOf(id);
      const session = held.get(key);
      // What Redis holds was read into memory with this request, unless Redis could not be asked.
      if (session !== undefined) end(key, session.user);
      else if (redis.status !== 'ready') end(key, true);
      done();
    },

    endAll,

    [Symbol.dispose]() {
      clearInterval(timer);
      redis.off('ready', onReady);
    },
  };
}

/** @throws when one of the commands failed */
async function done(commands: ChainableCommander): Promise<void> {
  const replies = (await commands.exec()) ?? [];
  const failure = replies.find(([error]) => error !== null);
  if (failure?.[0]) throw failure[0];
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
