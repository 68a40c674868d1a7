import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { StartError } from '../start-error.ts';
import { replaceFile } from './data-directory.ts';

type Holder = { pid: number; children: Child[] };

/** Pids are used again: only the same start time means the same process. */
type Child = { pid: number; since: string | undefined };

export type StartLock = {
  /** To be told the children's pids whenever one changes. */
  remember: (pids: readonly number[]) => void;
  unlock: () => void;
};

/**
 * Makes sure that one `npm start` at most works on a DATA_DIR. What an earlier one has left behind when it was killed
 * is ended first: its database would hold the data.
 * @param cleared is told how many processes had been left behind.
 * @throws StartError when another one runs.
 */
export function lockDataDirectory(path: string, cleared: (processes: number) => void): StartLock {
  const holder = (children: Child[]) => JSON.stringify({ pid: process.pid, children } satisfies Holder);
  while (!created(path, holder([]))) {
    const { pid, children } = readHolder(path);
    if (isStart(pid)) {
      throw new StartError(
        `Plant Store already runs on this DATA_DIR (pid ${pid}): stop it, or set DATA_DIR, PORT and OPS_PORT to others`,
      );
    }
    const left = children.filter(
      (child) => child.since !== undefined && child.since === startTime(child.pid),
    );
    for (const child of left) process.kill(-child.pid, 'SIGKILL');
    if (left.length > 0) cleared(left.length);
    rmSync(path, { force: true });
  }
  return {
    remember: (pids) => replaceFile(path, holder(pids.map((pid) => ({ pid, since: startTime(pid) })))),
    unlock: () => rmSync(path, { force: true }),
  };
}

function created(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(path: string): Holder {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return { pid: 0, children: [] };
  }
}

function isStart(pid: number): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const command = procFile(pid, 'cmdline');
  return command === undefined || command.includes('start.ts');
}

/** In clock ticks since the machine started (proc(5), field 22 of stat); unknown where there is no /proc. */
function startTime(pid: number): string | undefined {
  return procFile(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ')[19];
}

function procFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}
