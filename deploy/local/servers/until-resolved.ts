import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 25;

export type Wait = {
  /** Longer than this is a failure. */
  withinMs: number;
  /** What is waited for, for the message. */
  what: string;
  /** Gives up at once when true. */
  unless?: () => boolean;
};

/**
 * Tries until an attempt resolves.
 * @throws Error naming what was waited for and why the last attempt failed.
 */
export async function untilResolved<T>(
  attempt: () => Promise<T>,
  { withinMs, what, unless = () => false }: Wait,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (unless() || performance.now() >= deadline) {
        throw new Error(`not within ${withinMs} ms: ${what} (${(error as Error).message})`, { cause: error });
      }
    }
    await sleep(POLL_MS);
  }
}
