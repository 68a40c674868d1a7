import { execa } from 'execa';
import { ProcessOutput } from './process-output.ts';
import { untilResolved } from './until-resolved.ts';

/** SIGTERM to SIGKILL. */
const STOP_MS_MAX = 10_000;
const READY_MS_MAX = 30_000;

/** A running database or queue server. */
export type ServerProcess = {
  pid: number;
  port: number;
  url: string;
  /** Sends a signal, as a fault (SIGKILL, SIGSTOP, SIGCONT) does. */
  signal: (signal: NodeJS.Signals) => void;
  /** Ends it with SIGTERM, with SIGKILL after 10 s, and waits until it is gone. */
  stop: () => Promise<void>;
  /** Ends it at once, as a crash would, and waits until it is gone. */
  kill: () => Promise<void>;
};

export type ServerCommand = { program: string; args: readonly string[] };

/**
 * Starts a server and waits until it serves. It ends with this process at the latest.
 * @param ready is retried until it resolves. It has to check that this process answers, since another one may hold the
 * port.
 * @throws Error in one line when the server exits before it is ready, or is not ready in time and was ended.
 */
export async function startServer(
  name: string,
  { program, args }: ServerCommand,
  address: { port: number; url: string },
  ready: (pid: number) => Promise<void>,
): Promise<ServerProcess> {
  const child = execa(program, args, {
    stdin: 'ignore',
    buffer: false,
    reject: false,
    forceKillAfterDelay: STOP_MS_MAX,
  });
  const output = new ProcessOutput();
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.add(chunk));
  let ended = false;
  const gone = child.then(({ code, originalMessage }) => {
    ended = true;
    // It could not be started at all.
    if (code !== undefined) output.add(Buffer.from(`${originalMessage}`));
  });
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal);
    await gone;
  };

  try {
    await untilResolved(() => ready(child.pid as number), {
      withinMs: READY_MS_MAX,
      what: `${name} is ready`,
      unless: () => ended,
    });
  } catch (error) {
    if (ended) throw new Error(`${name} did not start: ${output.reason()}`);
    await end('SIGKILL');
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
