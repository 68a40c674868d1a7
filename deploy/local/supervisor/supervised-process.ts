import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { LastWords } from '../servers/last-words.ts';
import { untilResolved } from '../servers/until-resolved.ts';
import { StartError } from '../start-error.ts';

/** What is run as one process, and how it is told that it serves. */
export type Part = {
  name: string;
  program: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Where its health or its service is reached, for run.json. */
  url?: string;
  /** The signal that lets it drain. */
  stopSignal: NodeJS.Signals;
  /** Asked again and again until it resolves. */
  ready: (pid: number) => Promise<void>;
};

export type SupervisedProcess = {
  part: Part;
  pid: () => number;
  /** Resolves when it serves for the first time. Rejects with a StartError when it ended before, and stays ended. */
  started: Promise<void>;
  /** Lets it drain and waits until it is gone. */
  stop: () => Promise<void>;
};

type Watcher = {
  log: Writable;
  /** A line for the person in front of the terminal. */
  say: (line: string) => void;
  /** The pid is another one now. */
  changed: () => void;
};

const READY_MS_MAX = 60_000;
/** Signal to SIGKILL: more than the 10 s in which every service is gone. */
const STOP_MS_MAX = 12_000;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 5_000;
/** After serving for so long, the next end counts as the first. */
const STEADY_MS = 10_000;

/** Runs a process, and runs it again with growing pauses whenever it ends, until `stop`. */
export function supervise(part: Part, { log, say, changed }: Watcher): SupervisedProcess {
  const started = Promise.withResolvers<void>();
  const wake = new AbortController();
  let child = launch(part, log);
  let served = false;
  let ends = 0;

  async function run(): Promise<void> {
    for (;;) {
      const servedSince = await serves(child);
      if (servedSince !== undefined) {
        if (served) say(`${part.name} is back (pid ${child.pid})`);
        served = true;
        started.resolve();
      }
      const how = await child.gone;
      if (wake.signal.aborted) return;
      if (!served)
        return started.reject(
          new StartError(`${part.name} did not start: ${child.lastWords.reason().replace(/^[a-z]+: /, '')}`),
        );

      const steady = servedSince !== undefined && performance.now() - servedSince > STEADY_MS;
      ends = steady ? 1 : ends + 1;
      const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** (ends - 1), PAUSE_MS_MAX);
      say(`${part.name} ended (${how}), it is started again in ${pauseMs / 1_000} s`);
      await sleep(pauseMs, undefined, { signal: wake.signal }).catch(() => {});
      if (wake.signal.aborted) return;
      child = launch(part, log);
      changed();
    }
  }

  /** When it began to serve, or undefined when it ended before. */
  async function serves(current: Child): Promise<number | undefined> {
    const over = () => current.ended() || wake.signal.aborted;
    try {
      const patience = {
        withinMs: served ? Number.POSITIVE_INFINITY : READY_MS_MAX,
        what: `${part.name} is ready`,
      };
      await untilResolved(() => part.ready(current.pid), { ...patience, unless: over });
      return over() ? undefined : performance.now();
    } catch (error) {
      if (!over()) started.reject(new StartError(`${(error as Error).message}: see ${part.name}'s log`));
      return undefined;
    }
  }

  const finished = run();
  return {
    part,
    pid: () => child.pid,
    started: started.promise,
    stop: async () => {
      wake.abort();
      await child.end(part.stopSignal);
      await finished;
    },
  };
}

type Child = ReturnType<typeof launch>;

/** Whatever ends this process, an exception of ours included, nothing is left running. */
const killers = new Set<() => void>();
process.once('exit', () => {
  for (const kill of killers) kill();
});

/** In a process group of its own: Ctrl-C on the terminal is ours to handle, and what it has started ends with it. */
function launch({ program, args, env }: Part, log: Writable) {
  const child: ChildProcess = spawn(program, args, {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lastWords = new LastWords();
  for (const output of [child.stdout, child.stderr]) {
    output?.pipe(log, { end: false });
    output?.on('data', (chunk: Buffer) => lastWords.hear(chunk));
  }

  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it is gone.
    }
  };
  killers.add(killGroup);
  const over = Promise.withResolvers<string>();
  child.once('close', (code, signal) => over.resolve(signal ?? `exit code ${code}`));
  child.once('exit', killGroup);
  child.once('error', (error) => {
    lastWords.hear(Buffer.from(`${error.message}\n`));
    over.resolve(error.message);
  });
  void over.promise.then(() => killers.delete(killGroup));

  return {
    pid: child.pid ?? 0,
    lastWords,
    gone: over.promise,
    ended: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    end: async (signal: NodeJS.Signals) => {
      const impatience = setTimeout(killGroup, STOP_MS_MAX);
      child.kill(signal);
      await over.promise;
      clearTimeout(impatience);
    },
  };
}
