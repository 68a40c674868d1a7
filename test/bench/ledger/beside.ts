import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from '../load/run-load.ts';
import { ourBooks } from '../systems/books.ts';
import type { Ground } from '../systems/ground.ts';
import type { OwnProcess } from '../systems/own-processes.ts';
import { startCommand } from './commands.ts';

/** Creates offered at their times, whatever the answers do. */
export type CreateFigure = { p50Ms: number; p99Ms: number; created: number };

export type Creates = { url: string; rate: number; seconds: number; connections: number };

/** Far above the ids that a store is filled with. */
let nextId = 1_000_000_000;
const POLL_MS = 20;
const START_MS_MAX = 60_000;

/** Offers creates for a while; returns when all of them are indexed and audited. */
export async function offerCreates(
  ground: Ground,
  { url, rate, seconds, connections }: Creates,
): Promise<CreateFigure> {
  const firstId = nextId;
  nextId += 2 * rate * Math.ceil(seconds);
  const load = { url, token: ground.token, connections, seconds, rate, firstId };
  const { created, refused, broken, p50Ms, p99Ms } = await runLoad(load);
  if (refused + broken > 0) throw new Error(`${refused + broken} creates failed`);
  while (await ourBooks.isPending(ground.database)) await pause(POLL_MS);
  return { created, p50Ms, p99Ms };
}

/** Starts a reindex and waits until it copies plants; how many it had copied when it began. */
export async function startReindex(ground: Ground): Promise<{ child: OwnProcess; copiedBefore: number }> {
  const copiedBefore = await copied(ground);
  const child = startCommand(ground, ['reindex']);
  child.stdout.resume();
  const deadline = performance.now() + START_MS_MAX;
  while ((await copied(ground)) <= copiedBefore) {
    if (performance.now() > deadline) throw new Error('the reindex copies nothing');
    await pause(POLL_MS);
  }
  return { child, copiedBefore };
}

/**
 * Does the work while a command runs, which is started again each time it has ended.
 * @throws Error when the command fails: then the work was not done beside it
 */
export async function besideCommand<T>(
  ground: Ground,
  args: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  let child: OwnProcess | undefined;
  let isDone = false;
  const failing = (async (): Promise<never> => {
    let exitCode: number | null = 0;
    while (exitCode === 0 && !isDone) {
      child = startCommand(ground, args);
      child.stdout.resume();
      exitCode = await child.gone;
    }
    throw new Error(`${args.join(' ')} ended with ${exitCode}`);
  })();
  try {
    return await Promise.race([work(), failing]);
  } finally {
    isDone = true;
    child?.kill('SIGTERM');
    await child?.gone;
  }
}

/** Plants that a reindex has copied so far, as it stored its progress. */
export async function copied({ database }: Ground): Promise<number> {
  const states = database.collection<{ _id: string; copied?: number }>('ops_state');
  return (await states.findOne({ _id: 'reindex' }))?.copied ?? 0;
}
