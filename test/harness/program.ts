import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A service as a process of its own, as `npm start` and containers run it. */
export type Program = AsyncDisposable & {
  pid: number;
  /** What its "listening" line named. */
  listening: { url?: string; internal: string };
  /** The log lines so far. */
  log: readonly Record<string, unknown>[];
  signal: (signal: NodeJS.Signals) => void;
  /** Resolves to the exit code (null after a signal) once it is gone. */
  gone: Promise<number | null>;
  /** SIGTERM, then its exit code. */
  stop: () => Promise<number | null>;
};

/**
 * Starts `node <main>` with the environment and waits until it listens.
 * @throws Error with what it wrote to standard error when it exits instead.
 */
export async function startProgram(main: string, environment: Record<string, string>): Promise<Program> {
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  const gone = once(child, 'exit').then(([code]) => code as number | null);

  const log: Record<string, unknown>[] = [];
  const listening = await new Promise<Program['listening']>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      log.push(entry);
      if (entry['msg'] === 'listening') resolve(entry as Program['listening']);
    });
    void gone.then((code) => reject(new Error(`${main} ended with ${code}: ${complaint}`)));
  });

  const stop = () => {
    child.kill('SIGTERM');
    return gone;
  };
  return {
    pid: child.pid as number,
    listening,
    log,
    signal: (signal) => child.kill(signal),
    gone,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
