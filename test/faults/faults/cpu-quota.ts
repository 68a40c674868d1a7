import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlGroups } from '../../harness/processes/control-groups.ts';
import { CannotRunHereError } from '../system/system.ts';

/** Short, so that the process stands still for milliseconds only. */
const PERIOD_US = 10_000;

/** How each version of control groups is told the limit. */
const settings: Record<1 | 2, (quotaUs: number) => Record<string, string>> = {
  1: (quotaUs) => ({ 'cpu.cfs_period_us': `${PERIOD_US}`, 'cpu.cfs_quota_us': `${quotaUs}` }),
  2: (quotaUs) => ({ 'cpu.max': `${quotaUs} ${PERIOD_US}` }),
};

/**
 * Limits the CPU of a process by a control group of Linux until it is disposed of, or this process ends. After that, the
 * process is in the root of the hierarchy.
 * @param cores how much of one core it gets
 * @throws CannotRunHereError where control groups cannot be written
 */
export function cpuQuota(pid: number, cores: number): Disposable {
  const groups = controlGroups('cpu');
  if (groups === undefined)
    throw new CannotRunHereError('there are no control groups to limit a process’ CPU');
  const { root, version } = groups;
  const group = join(root, `plant-store-${pid}`);
  const end = () => {
    process.removeListener('exit', end);
    // The process may be gone, and the group never have been made.
    attempt(() => writeFileSync(join(root, 'cgroup.procs'), `${pid}`, { flag: 'r+' }));
    attempt(() => rmdirSync(group));
  };
  process.once('exit', end);
  try {
    mkdirSync(group);
    const files = { ...settings[version](Math.round(cores * PERIOD_US)), 'cgroup.procs': `${pid}` };
    // Files of a control group exist already: no other ones are made beside them.
    for (const [file, value] of Object.entries(files))
      writeFileSync(join(group, file), value, { flag: 'r+' });
    if (!readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/plant-store-${pid}\n`))
      throw new Error('the process is not in its group');
  } catch (error) {
    end();
    throw new CannotRunHereError(
      `no control group can limit a process’ CPU (root on Linux can): ${(error as Error).message}`,
    );
  }
  return { [Symbol.dispose]: end };
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {}
}
