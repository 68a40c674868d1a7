import { rmdirSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CannotRunHereError } from '../system/system.ts';

/** Short, so that the process stands still for milliseconds only. */
const PERIOD_US = 10_000;

/**
 * Limits the CPU of a process by a control group of Linux (version 1 or 2) until it is disposed of.
 * @param cores how much of one core it gets
 * @throws CannotRunHereError where control groups cannot be written
 */
export async function cpuQuota(pid: number, cores: number): Promise<AsyncDisposable> {
  const quotaUs = Math.round(cores * PERIOD_US);
  const limit = async (parent: string, settings: Readonly<Record<string, string>>) => {
    const folder = join(parent, `plant-store-${pid}`);
    const free = async () => {
      await writeFile(join(parent, 'cgroup.procs'), `${pid}`);
      await rmdir(folder);
      process.removeListener('exit', remove);
    };
    await mkdir(folder);
    // An interrupted run ends the limited process first.
    const remove = () => rmdirSync(folder);
    process.once('exit', remove);
    try {
      for (const [file, value] of Object.entries({ ...settings, 'cgroup.procs': `${pid}` }))
        await writeFile(join(folder, file), value);
    } catch (error) {
      await free();
      throw error;
    }
    return { [Symbol.asyncDispose]: free };
  };
  try {
    return await limit('/sys/fs/cgroup/cpu', {
      'cpu.cfs_period_us': `${PERIOD_US}`,
      'cpu.cfs_quota_us': `${quotaUs}`,
    }).catch(() => limit('/sys/fs/cgroup', { 'cpu.max': `${quotaUs} ${PERIOD_US}` }));
  } catch (error) {
    const { message } = error as Error;
    throw new CannotRunHereError(`no control group can limit mongod's CPU (root on Linux can): ${message}`);
  }
}
