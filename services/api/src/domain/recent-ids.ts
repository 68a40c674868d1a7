import type { Outcome } from './creation.ts';

/** What a replica knows of an id: a plant is stored under it, or the outcome of a creation is still awaited. */
type IdState = 'stored' | Promise<Outcome>;

/** The ids of this replica's recent creations. An id may be forgotten, and a failover may roll back a stored plant. */
export type RecentIds = {
  get: (id: bigint) => IdState | undefined;
  set: (id: bigint, state: IdState) => void;
  forget: (id: bigint) => void;
};

/**
 * Remembers between `generation` and twice as many ids in two maps: when the young map is full, it replaces the old
 * one, which is dropped. Every call takes constant time, a look-up changes nothing, and an id takes about 60 bytes.
 */
export function recentIds(generation: number): RecentIds {
  let young = new Map<bigint, IdState>();
  let old = new Map<bigint, IdState>();
  return {
    get: (id) => young.get(id) ?? old.get(id),
    set(id, state) {
      young.set(id, state);
      if (young.size < generation) return;
      old = young;
      young = new Map();
    },
    forget(id) {
      young.delete(id);
      old.delete(id);
    },
  };
}
