import { readdir, readFile } from 'node:fs/promises';

/**
 * Ends at once all processes whose environment has this variable with this value, and names them. Children inherit it,
 * so those are found whose parent is gone. Where there is no /proc, nothing is found.
 */
export async function endMarkedProcesses(variable: string, value: string): Promise<string[]> {
  const ended: string[] = [];
  const pids = await readdir('/proc').catch(() => []);
  for (const pid of pids.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!environment.split('\0').includes(`${variable}=${value}`)) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      continue; // It has ended meanwhile.
    }
    ended.push(`${pid} ${command.split('\0').join(' ').trim()}`);
  }
  return ended;
}
