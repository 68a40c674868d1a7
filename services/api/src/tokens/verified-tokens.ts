import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/creation.ts';

/** A token is remembered for so long at most, and never beyond its own `exp`. */
const REMEMBERED_MS_MAX = 60_000;
const BYTES_MAX = 8 * 1024 * 1024;
/** What a token costs beside its characters: the entry, the principal and its claims. */
const ENTRY_BYTES = 1_024;

type Verified = { principal: Principal; until: number; keys: number };

export type VerifiedTokens = {
  /** @param keys version of the keys in use; a token that was verified with another version is not found. */
  find: (token: string, keys: number) => Principal | undefined;
  /** @param until when the token expires, on the clock of `Date.now()` */
  add: (token: string, keys: number, principal: Principal, until: number) => void;
};

/**
 * A cache of recently verified tokens and their principals. Its size in bytes is limited, since clients choose how long
 * their tokens are and how many they use.
 */
export function verifiedTokens(): VerifiedTokens {
  const tokens = new LRUCache<string, Verified>({
    maxSize: BYTES_MAX,
    sizeCalculation: (_verified, token) => ENTRY_BYTES + token.length,
  });
  return {
    find(token, keys) {
      const verified = tokens.get(token);
      const good = verified !== undefined && verified.keys === keys && Date.now() < verified.until;
      return good ? verified.principal : undefined;
    },
    add(token, keys, principal, until) {
      // A string that was cut from a header may keep the whole header in memory (V8's sliced strings): a copy does not.
      const copy = Buffer.from(token, 'latin1').toString('latin1');
      tokens.set(copy, { principal, keys, until: Math.min(until, Date.now() + REMEMBERED_MS_MAX) });
    },
  };
}
