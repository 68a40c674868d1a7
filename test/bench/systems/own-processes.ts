import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

export type OwnProcess = {
  pid: number;
  stdout: Readable;
  kill: (signal: NodeJS.Signals) => void;
  /** Resolves with the exit code, null after a signal, once it is gone. */
  gone: Promise<number | null>;
};

/** Whatever ends this process, nothing that it has started stays behind. */
const running = new Set<ChildProcessByStdio<null, Readable, null>>();
process.once('exit', () => {
  for (const child of running) killGroup(child.pid, 'SIGKILL');
});

/** Starts a program in a process group of its own, so that what it starts in turn (nginx's workers) ends with it. */
export function launch(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): OwnProcess {
  const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  const gone = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  }).finally(() => running.delete(child));
  gone.catch(() => {});
  return {
    pid: child.pid as number,
    stdout: child.stdout,
    kill: (signal) => killGroup(child.pid, signal),
    gone,
  };
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of it is gone.
  }
}
