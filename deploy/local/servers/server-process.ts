import { spawn } from 'node:child_process';
import { LastWords } from './last-words.ts';
import { untilResolved } from './until-resolved.ts';

/** SIGTERM to SIGKILL. */
const STOP_MS_MAX = 10_000;

/** A running database or queue server. */
export type ServerProcess = {
  pid: number;
  port: number;
  url: string;
  /** Sends a signal, as a fault (SIGKILL, SIGSTOP, SIGCONT) does. */
  signal: (signal: NodeJS.Signals) => void;
  /** Ends it with SIGTERM, or with SIGKILL when it does not care, and waits until it is gone. */
  stop: () => Promise<void>;
  /** Ends it at once, as a crash would, and waits until it is gone. */
  kill: () => Promise<void>;
};

export type ServerCommand = { program: string; args: readonly string[] };

/**
 * Starts a server and waits until it serves.
 * @param ready is asked again and again until it resolves. It has to make sure that this very process answers: another
 * one may hold the port.
 * @throws Error in one line when the server exits before, or is not ready within `withinMs`; it is then gone.
 */
export async function startServer(
  name: string,
  { program, args }: ServerCommand,
  address: { port: number; url: string },
  ready: (pid: number) => Promise<void>,
  withinMs = 30_000,
): Promise<ServerProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lastWords = new LastWords();
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => lastWords.hear(chunk));
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (error) => {
      lastWords.hear(Buffer.from(error.message));
      resolve();
    });
  });
  const running = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const dieWithUs = () => child.kill('SIGKILL');
  process.once('exit', dieWithUs);
  void gone.then(() => process.off('exit', dieWithUs));

  const end = async (signal: NodeJS.Signals) => {
    const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    if (running()) child.kill(signal);
    await gone;
    clearTimeout(impatience);
  };

  try {
    await untilResolved(() => ready(child.pid as number), {
      withinMs,
      what: `${name} is ready`,
      unless: () => !running(),
    });
  } catch (error) {
    const ended = !running();
    await end('SIGKILL');
    if (ended) throw new Error(`${name} did not start: ${lastWords.reason()}`);
    throw error;
  }
  return {
    pid: child.pid as number,
    ...address,
    signal: (signal) => child.kill(signal),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
