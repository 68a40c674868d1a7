import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
const LOAD_MAX = 6;

/**
 * Waits for a fact: asks `fact` until it yields something truthy, and returns that.
 *
 * `withinMs` is meant for a machine with a core for every process that wants one. Where more processes want a core
 * than there are, each gets a part of one, and the wait is longer by that factor, at most sixfold.
 * @param fact may throw while the fact does not hold yet.
 * @throws Error naming what was waited for and the last state seen, after `withinMs`.
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
    const patienceMs = Math.round(withinMs * processesPerCore());
    if (performance.now() - began >= patienceMs) {
      throw new Error(`not within ${patienceMs} ms: ${what}; last: ${describe(last)}`);
    }
    await sleep(POLL_MS);
  }
}

/** Processes that want to run for each core, over the last minute; 1 where there are cores enough. */
function processesPerCore(): number {
  const [load = 0] = loadavg();
  return Math.min(Math.max(1, load / availableParallelism()), LOAD_MAX);
}

function describe(state: unknown): string {
  if (state instanceof Error) return state.message;
  return (
    JSON.stringify(state, (_key, value) => (typeof value === 'bigint' ? `${value}n` : value)) ?? String(state)
  );
}
