import { hash } from 'node:crypto';

/** Pseudo-random choices that a seed repeats. */
export type Random = {
  /** From 0 to below 1. */
  next: () => number;
  chance: (probability: number) => boolean;
  /** A whole number from `min` to `max`, both included. */
  between: (min: number, max: number) => number;
  pick: <T>(from: readonly T[]) => T;
};

/** mulberry32: 32 bits of state are enough for a few thousand choices. */
export function seededRandom(seed: string): Random {
  let state = Number.parseInt(hash('sha256', seed, 'hex').slice(0, 8), 16);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    chance: (probability) => next() < probability,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (from) => {
      if (from.length === 0) throw new RangeError('there is nothing to pick from');
      return from[Math.floor(next() * from.length)] as (typeof from)[number];
    },
  };
}
