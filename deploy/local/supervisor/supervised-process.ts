import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { ProcessOutput } from '../servers/process-output.ts';
import { untilResolved } from '../servers/until-resolved.ts';
import { StartError } from '../start-error.ts';
import type { OwnLog } from './log-files.ts';

/** What runs as one process, and how to find out that it serves. */
export type Part = {
  name: string;
  program: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Where its health or its service is reached, for run.json. */
  url?: string;
  /** What it writes besides its output. */
  ownLog?: OwnLog;
  /** The signal that lets it drain. */
  stopSignal: NodeJS.Signals;
  /** Tried until it resolves. */
  ready: (pid: number) => Promise<void>;
};

export type SupervisedProcess = {
  /** Resolves when it serves for the first time. If it ends before, rejects with a StartError and is not restarted. */
  started: Promise<void>;
  /** Lets it drain and waits until it is gone. */
  stop: () => Promise<void>;
};

type Watcher = {
  log: Writable;
  /** Is given a line for the person in front of the terminal. */
  tell: (line: string) => void;
  /** Is given the pid of each process that was started. */
  launched: (pid: number) => void;
};

const READY_MS_MAX = 60_000;
/** From the stop signal to SIGKILL: more than the 10 s in which every service shuts down. */
const STOP_MS_MAX = 12_000;
const PAUSE_MS_MIN = 250;
const PAUSE_MS_MAX = 5_000;
/** When a process has served for this long, the restart pauses begin anew. */
const STEADY_MS = 10_000;

/** Runs a process, and restarts it with growing pauses whenever it ends, until `stop`. */
export function supervise(part: Part, { log, tell, launched }: Watcher): SupervisedProcess {
  const started = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let served = false;
  let ends = 0;
  let child = launch(part, log);
  launched(child.pid);

  async function run(): Promise<void> {
    for (;;) {
      const servedSince = await serves(child);
      if (servedSince !== undefined) {
        if (served) tell(`${part.name} is back (pid ${child.pid})`);
        served = true;
        started.resolve();
      }
      const how = await child.gone;
      if (stopping.signal.aborted) return;
      if (!served) {
        const reason = child.output.reason().replace(/^[a-z]+: /, '');
        return started.reject(new StartError(`${part.name} did not start: ${reason}`));
      }

      const steady = servedSince !== undefined && performance.now() - servedSince > STEADY_MS;
      ends = steady ? 1 : ends + 1;
      const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** (ends - 1), PAUSE_MS_MAX);
      tell(`${part.name} ended (${how}), it is started again in ${pauseMs / 1_000} s`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      child = launch(part, log);
      launched(child.pid);
    }
  }

  /** When it began to serve, or undefined when it ended before. */
  async function serves({ pid, ended }: Child): Promise<number | undefined> {
    const over = () => ended() || stopping.signal.aborted;
    const withinMs = served ? Number.POSITIVE_INFINITY : READY_MS_MAX;
    try {
      await untilResolved(() => part.ready(pid), { withinMs, what: `${part.name} is ready`, unless: over });
      return over() ? undefined : performance.now();
    } catch (error) {
      if (!over()) started.reject(new StartError(`${(error as Error).message}: see ${part.name}'s log`));
      return undefined;
    }
  }

  const finished = run();
  return {
    started: started.promise,
    stop: async () => {
      stopping.abort();
      child.stop();
      await finished;
    },
  };
}

type Child = ReturnType<typeof launch>;

/** When this process exits for any reason, also an exception, it kills what it has started. */
const killers = new Set<() => void>();
process.once('exit', () => {
  for (const kill of killers) kill();
});

/** In its own process group: Ctrl-C then reaches only `npm start`, and its children can be ended together with it. */
function launch({ program, args, env, stopSignal }: Part, log: Writable) {
  const child = execa(program, args, {
    env,
    extendEnv: false,
    detached: true,
    stdin: 'ignore',
    buffer: false,
    reject: false,
    killSignal: stopSignal,
    forceKillAfterDelay: STOP_MS_MAX,
  });
  const output = new ProcessOutput();
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(log, { end: false });
    stream.on('data', (chunk: Buffer) => output.add(chunk));
  }
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole process group is gone.
    }
  };
  killers.add(killGroup);
  child.nodeChildProcess.once('exit', killGroup);
  let over = false;
  const gone = child.then(({ signal, exitCode, originalMessage }) => {
    over = true;
    killers.delete(killGroup);
    if (exitCode === undefined && signal === undefined) output.add(Buffer.from(`${originalMessage}\n`));
    return signal ?? (exitCode === undefined ? 'it could not be run' : `exit code ${exitCode}`);
  });
  return { pid: child.pid ?? 0, output, gone, ended: () => over, stop: () => child.kill() };
}
