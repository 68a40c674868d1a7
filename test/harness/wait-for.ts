import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
const LOAD_MAX = 6;

/**
 * How long to wait, at this moment, for what takes at most `withinMs` where every process that wants a core has one.
 * Where more processes want a core than there are, each gets a part of one: longer by that factor, at most sixfold.
 */
export function underLoadMs(withinMs: number): number {
  const [load = 0] = loadavg();
  const processesPerCore = load / availableParallelism();
  return Math.round(withinMs * Math.min(Math.max(1, processesPerCore), LOAD_MAX));
}

/**
 * Waits for a fact: asks `fact` until it yields something truthy, and returns that.
 * @param fact may throw while the fact does not hold yet.
 * @param options.withinMs how long, where the machine has nothing else to do; see `underLoadMs`
 * @throws Error naming what was waited for and the last state seen, when the time is over.
 */
export async function waitFor<T>(
  fact: () => T | Promise<T>,
  { withinMs, what }: { withinMs: number; what: string },
): Promise<NonNullable<T>> {
  const began = performance.now();
  for (;;) {
    let last: unknown;
    try {
      last = await fact();
      if (last) return last as NonNullable<T>;
    } catch (error) {
      last = error;
    }
    const limitMs = underLoadMs(withinMs);
    if (performance.now() - began >= limitMs) {
      throw new Error(`not within ${limitMs} ms: ${what}; last: ${describe(last)}`);
    }
    await sleep(POLL_MS);
  }
}

function describe(state: unknown): string {
  if (state instanceof Error) return state.message;
  return (
    JSON.stringify(state, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value)) ?? String(state)
  );
}
