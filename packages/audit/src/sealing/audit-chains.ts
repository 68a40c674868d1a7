import type { ChainHead } from '../ledger/audit-block.ts';

/** The chains that workers spread creations over. */
export function creationChains(count: number): number[] {
  return Array.from({ length: count }, (_, chain) => chain);
}

export type HeldChain = {
  chain: number;
  /** The remembered head, where there is one. */
  head: ChainHead | undefined;
  /** Gives the chain back with the head of a block that a majority acknowledged, or with none after any error. */
  release: (head: ChainHead | undefined) => void;
};

/**
 * Hands out the chains, one holder in this process at a time, and remembers their heads. A chain whose head is
 * remembered comes first, so a worker stays on its own chains; after a collision it takes any other, so workers spread.
 *
 * A head is remembered only from this worker's own majority acknowledgement and only until the next error: a head that
 * a failover rolled back would be followed by a gap that no index sees (the chain would be broken).
 */
export function createAuditChains(
  chains: readonly number[],
  random: () => number,
): { take: () => HeldChain } {
  const heads = new Map<number, ChainHead>();
  const held = new Set<number>();

  function choose(): number {
    const free = chains.filter((chain) => !held.has(chain));
    const own = free.find((chain) => heads.has(chain));
    if (own !== undefined) return own;
    const choice = free.length > 0 ? free : chains;
    return choice[Math.floor(random() * choice.length)] as number;
  }

  return {
    take() {
      const chain = choose();
      const head = heads.get(chain);
      heads.delete(chain);
      held.add(chain);
      return {
        chain,
        head,
        release: (sealed) => {
          held.delete(chain);
          if (sealed !== undefined) heads.set(chain, sealed);
        },
      };
    },
  };
}
