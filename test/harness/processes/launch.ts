import { execa } from 'execa';
import { untilStopped } from './stopped.ts';

export type Ended = { code: number | null; stdout: string; stderr: string };

/** A process that a test has started. Whoever starts it ends it: `await using`, or `stop`. */
export type Launched = AsyncDisposable & {
  pid: number;
  /** What it has written so far. */
  stdout: () => string;
  stderr: () => string;
  /** Sends a signal; after SIGSTOP it returns once no thread of the process runs any more. */
  signal: (signal: NodeJS.Signals) => void;
  /** Resolves once it is gone and its output is read; the exit code is null after a signal. */
  ended: Promise<Ended>;
  /** Sends a signal (default SIGTERM) and waits for the end. */
  stop: (signal?: NodeJS.Signals) => Promise<Ended>;
};

export type LaunchOptions = {
  /** Added to the environment of the test; `undefined` takes a variable out. */
  environment?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** In a process group of its own, as on a terminal. */
  detached?: boolean;
  /** Ends it by force after so long. */
  timeoutMs?: number;
};

/** Starts a program and waits for nothing. `node` is the Node that runs the tests. */
export function launch(program: string, args: readonly string[], options: LaunchOptions = {}): Launched {
  const { environment = {}, cwd, detached = false, timeoutMs } = options;
  const child = execa(program === 'node' ? process.execPath : program, args, {
    env: { ...process.env, ...environment },
    extendEnv: false,
    detached,
    stdin: 'ignore',
    reject: false,
    // A service has 10 s to drain; execa would end it by force after 5.
    forceKillAfterDelay: false,
    stripFinalNewline: false,
    ...(cwd !== undefined && { cwd }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const ended = child.then((result): Ended => {
    if (child.pid === undefined) throw new Error(`${program} cannot be started`, { cause: result });
    return { code: result.exitCode ?? null, stdout: result.stdout, stderr: result.stderr };
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid as number,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    signal: (signal) => {
      child.kill(signal);
      if (signal === 'SIGSTOP') untilStopped(child.pid as number);
    },
    ended,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
