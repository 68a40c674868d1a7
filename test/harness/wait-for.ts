import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Waits for a fact: asks `fact` until it yields something truthy, and returns that.
 * @param fact may throw while the fact does not hold yet.
 * @throws Error naming what was waited for and the last state seen, after `withinMs`.
 */
export async function waitFor<T>(
  fact: () => T | Promise<T>,
  { withinMs, what }: { withinMs: number; what: string },
): Promise<NonNullable<T>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let last: unknown;
    try {
      last = await fact();
      if (last) return last as NonNullable<T>;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= deadline) {
      throw new Error(`not within ${withinMs} ms: ${what}; last: ${describe(last)}`);
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
