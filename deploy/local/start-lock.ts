import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { endMarkedProcesses } from './marked-processes.ts';
import { StartError } from './start-error.ts';

/** The variable by which the children of one start are known. */
export const RUN_MARK = 'PLANT_STORE_RUN';

type Holder = { pid: number; run: string };

/**
 * Makes sure that one `npm start` at most works on a DATA_DIR. What an earlier one has left behind when it was killed
 * is ended first: its database would hold the data.
 * @param run marks the children of this start.
 * @returns what gives the lock back, and which processes had been left behind.
 * @throws StartError when another one runs.
 */
export async function lockDataDirectory(
  path: string,
  run: string,
): Promise<{ unlock: () => void; ended: string[] }> {
  const ended: string[] = [];
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify({ pid: process.pid, run } satisfies Holder), {
        flag: 'wx',
        mode: 0o600,
      });
      return { unlock: () => rmSync(path, { force: true }), ended };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(path);
    if (holder !== undefined && isStart(holder.pid)) {
      throw new StartError(
        `Plant Store already runs on this DATA_DIR (pid ${holder.pid}): stop it, or set DATA_DIR, PORT and OPS_PORT to others`,
      );
    }
    if (holder !== undefined) ended.push(...(await endMarkedProcesses(RUN_MARK, holder.run)));
    rmSync(path, { force: true });
  }
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

/** Pids are used again, so the command counts as well, where it can be seen. */
function isStart(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('start.ts');
  } catch {
    return true;
  }
}
