import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export type FoundProcess = { pid: number; command: string };

/**
 * All processes but this one that have to do with a directory: named in their environment or command, as working
 * directory, or by an open file. Redis and nginx overwrite their environment with a title, hence the other signs.
 * Where there is no /proc, nothing is found.
 */
export async function processesOf(directory: string): Promise<FoundProcess[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.filter((pid) => Number(pid) !== process.pid).map((pid) => look(pid, directory)),
  );
  return found.filter((process) => process !== undefined);
}

async function look(pid: string, directory: string): Promise<FoundProcess | undefined> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const link = (name: string) => readlink(`/proc/${pid}/${name}`).catch(() => '');
  const command = (await read('cmdline')).split('\0').join(' ').trim();
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const signs = await Promise.all([read('environ'), link('cwd'), ...files.map((file) => link(`fd/${file}`))]);
  return [command, ...signs].some((sign) => sign.includes(directory))
    ? { pid: Number(pid), command }
    : undefined;
}

/** A process that is being started has neither command nor environment for a moment: two looks in turn must find none. */
const EMPTY_LOOKS = 2;
const LOOK_AGAIN_MS = 50;

/** Ends all of them at once, also those that one of them has started meanwhile, and names them. */
export async function endProcessesOf(directory: string): Promise<FoundProcess[]> {
  const ended = new Map<number, FoundProcess>();
  for (let emptyLooks = 0; ; await sleep(LOOK_AGAIN_MS)) {
    const found = (await processesOf(directory)).filter(({ pid }) => !ended.has(pid));
    emptyLooks = found.length === 0 ? emptyLooks + 1 : 0;
    if (emptyLooks === EMPTY_LOOKS) return [...ended.values()];
    for (const one of found) {
      ended.set(one.pid, one);
      try {
        process.kill(one.pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}
