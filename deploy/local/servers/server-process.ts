import { type ChildProcess, spawn } from 'node:child_process';
import { untilResolved } from './until-resolved.ts';

const OUTPUT_LINES_MAX = 50;
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
  const output = lastLines(child);
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
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
    if (ended) throw new Error(`${name} did not start: ${whyItEnded(output)}`);
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

/** Keeps the pipes empty, so that the server never blocks on a full one. */
function lastLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  const take = (chunk: Buffer) => {
    lines.push(...chunk.toString().split('\n').filter(Boolean));
    lines.splice(0, Math.max(0, lines.length - OUTPUT_LINES_MAX));
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  child.on('error', (error) => lines.push(error.message));
  return lines;
}

/**
 * The one reason a person needs out of a server's last words. mongod's are JSON with a severity, and the first error
 * causes the others; Redis marks complaints with '#', and the last one ended it.
 */
export function whyItEnded(lines: readonly string[]): string {
  for (const line of lines) {
    const error = /"s":"[EF]".*"error":(?:"([^"]+)"|\{.*?"errmsg":"([^"]+)")/.exec(line);
    if (error !== null) return (error[1] ?? error[2]) as string;
  }
  const complaint = lines.findLast((line) => /^\d+:\w .+? # /.test(line));
  return complaint?.replace(/^.+? # /, '') ?? lines.at(-1) ?? 'it said nothing';
}
