import { readFile } from 'node:fs/promises';
import pidusage from 'pidusage';

/** CPU that processes and their children have used since they started, as the operating system counts it. */
export async function cpuMsOf(pids: readonly number[]): Promise<number> {
  const usages = await Promise.all((await withChildren(pids)).map((pid) => pidusage(pid)));
  return usages.reduce((sum, { ctime }) => sum + ctime, 0);
}

/** Resident memory, shared pages counted in each. */
export async function memoryBytesOf(pids: readonly number[]): Promise<number> {
  const usages = await Promise.all((await withChildren(pids)).map((pid) => pidusage(pid)));
  return usages.reduce((sum, { memory }) => sum + memory, 0);
}

/** nginx works in children. Where there is no /proc, they are not counted. */
async function withChildren(pids: readonly number[]): Promise<number[]> {
  const children = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')),
  );
  return [...pids, ...children.flatMap((line) => line.split(' ').filter(Boolean).map(Number))];
}
