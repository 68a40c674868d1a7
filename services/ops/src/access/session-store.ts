import type { SessionStore } from '@fastify/session';
import type { Session } from 'fastify';
import { LRUCache } from 'lru-cache';

/** More than enough for the operators of one system. Beyond it, the least recently used session ends. */
const SESSIONS_MAX = 1_000;

/** Sessions in memory, bounded in number and lifetime. The plugin's own store keeps them and their requests forever. */
export function memorySessions(lifetimeMs: number): SessionStore {
  const sessions = new LRUCache<string, Session>({ max: SESSIONS_MAX, ttl: lifetimeMs, noUpdateTTL: true });
  return {
    set(id, { cookie, user }, done) {
      sessions.set(id, { cookie, ...(user !== undefined && { user }) });
      done();
    },
    get(id, done) {
      done(null, sessions.get(id) ?? null);
    },
    destroy(id, done) {
      sessions.delete(id);
      done();
    },
  };
}
