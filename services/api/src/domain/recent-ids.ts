/** Ids that this replica has seen stored of late. May forget, never lies about having seen. */
export type RecentIds = { has: (id: bigint) => boolean; add: (id: bigint) => void };

/**
 * Remembers the last `generation` to twice as many ids in two generations: when the young one is full it becomes the
 * old one, and the old one is dropped whole. Constant time, no bookkeeping per look-up, about 60 bytes an id.
 */
export function recentIds(generation: number): RecentIds {
  let young = new Set<bigint>();
  let old = new Set<bigint>();
  return {
    has: (id) => young.has(id) || old.has(id),
    add: (id) => {
      young.add(id);
      if (young.size < generation) return;
      old = young;
      young = new Set();
    },
  };
}
