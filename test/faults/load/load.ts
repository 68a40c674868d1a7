import { setTimeout as pause } from 'node:timers/promises';
import { underLoadMs, waitFor } from '../../harness/wait-for.ts';
import { type Attempt, type History, isOpen, type Operation } from '../history/history.ts';
import type { Random } from '../random.ts';
import { type Client, createClient, type Target } from './client.ts';
import { type Mix, operations } from './operations.ts';

export type LoadOptions = Mix & {
  connections: number;
  /** The mean pause of a connection between two requests. */
  thinkMs: number;
  /** Part of all clients that hang up right after sending. */
  hangUps: number;
};

export const defaultLoad: LoadOptions = {
  connections: 12,
  thinkMs: 60,
  duplicates: 0.05,
  invalid: 0.02,
  hangUps: 0,
};

export type Load = {
  /** Resolves once so many creates were answered 200 from now on. */
  untilOk: (creates: number, withinMs: number) => Promise<void>;
  /** Sends new requests no more, waits for the answers, then retries what is open until none is or the time is over. */
  finish: (withinMs: number) => Promise<void>;
  /** One create of a new plant beside the others. */
  createOne: () => Promise<{ operation: Operation; attempt: Attempt }>;
  close: () => Promise<void>;
};

/** Pause before an operation whose outcome is unknown is sent again. */
const RETRY_MS = { min: 200, max: 800 };
const POLL_MS = 20;

/**
 * A closed loop: each connection sends its next request when the last one is answered. Operations whose outcome is
 * unknown are sent again with their key.
 */
export function startLoad(deps: {
  history: History;
  random: Random;
  options: LoadOptions;
  /** Where requests go at present. */
  targets: () => readonly Target[];
  token: (subject: string) => string;
}): Load {
  const { history, random, options, targets, token } = deps;
  const client: Client = createClient(history);
  const make = operations(history, random, options);
  const retries: { operation: Operation; dueMs: number }[] = [];
  let running = true;
  let inFlight = 0;
  let ok = 0;

  async function perform(operation: Operation, hangUp = false): Promise<Attempt> {
    inFlight++;
    const attempt = await client.send(operation, random.pick(targets()), token(operation.subject), hangUp);
    inFlight--;
    if (attempt.outcome === 'ok') ok++;
    if (isOpen(operation) && !retries.some((retry) => retry.operation === operation)) {
      retries.push({ operation, dueMs: history.now() + random.between(RETRY_MS.min, RETRY_MS.max) });
    }
    return attempt;
  }

  /** What is to be sent again by now. */
  function dueRetry(): Operation | undefined {
    const index = retries.findIndex(({ dueMs }) => dueMs <= history.now());
    return index < 0 ? undefined : retries.splice(index, 1)[0]?.operation;
  }

  async function connection(): Promise<void> {
    while (running) {
      const retry = dueRetry();
      if (retry === undefined) await perform(make.next(), random.chance(options.hangUps));
      else if (isOpen(retry)) await perform(retry);
      await pause(random.next() * 2 * options.thinkMs);
    }
  }

  const connections = Promise.all(Array.from({ length: options.connections }, connection));

  return {
    async untilOk(creates, withinMs) {
      const wanted = ok + creates;
      await waitFor(() => ok >= wanted, { withinMs, what: `${creates} creates succeed` });
    },
    async finish(withinMs) {
      running = false;
      await connections;
      const deadline = history.now() + underLoadMs(withinMs);
      while ((retries.length > 0 || inFlight > 0) && history.now() < deadline) {
        const retry = dueRetry();
        if (retry === undefined) await pause(POLL_MS);
        else if (isOpen(retry)) await perform(retry);
      }
    },
    async createOne() {
      const operation = make.create();
      return { operation, attempt: await perform(operation) };
    },
    async close() {
      running = false;
      await connections;
      client.close();
    },
  };
}
