import { readdir, readFile } from 'node:fs/promises';

/**
 * Ends the processes that a test run has left behind and names them. They are known by the run's mark in their
 * environment, so grandchildren that were orphaned are found as well. Where there is no /proc, nothing is found.
 */
export async function endLeftProcesses(run: string): Promise<string[]> {
  const left: string[] = [];
  const pids = await readdir('/proc').catch(() => []);
  for (const pid of pids.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!environment.split('\0').includes(`PLANT_STORE_TEST_RUN=${run}`)) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    left.push(`${pid} ${command.split('\0').join(' ').trim()}`);
    process.kill(Number(pid), 'SIGKILL');
  }
  return left;
}
