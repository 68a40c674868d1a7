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
 * Hands out the chains and remembers their heads. A chain has one holder in this process at a time, unless all chains
 * are held. A free chain whose head is remembered is chosen first, so a worker stays on its own chains. After a
 * collision the head is forgotten and a free chain is chosen at random, so workers spread over the chains.
 *
 * A head is remembered only when a majority acknowledged this worker's own block, and only until the next error. A
 * block on a head that a failover rolled back would leave a gap in the chain, which no unique index prevents.
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
