import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { controlGroups } from '../../harness/processes/control-groups.ts';
import { waitFor } from '../../harness/wait-for.ts';

/** A control group of Linux with a limit on memory, as a container has one. */
export type MemoryGroup = AsyncDisposable & {
  limitBytes: number;
  /** A shell command that puts the process which runs it, and what that starts, into the group. */
  join: string;
  /** The most that it held at once, the kernel's share included. */
  peakBytes: () => Promise<number>;
  /** How many processes the kernel has killed for want of memory. */
  killed: () => Promise<number>;
};

/** The names of the files in each version of control groups. */
const files = {
  1: { limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes', kills: 'memory.oom_control' },
  2: { limit: 'memory.max', peak: 'memory.peak', kills: 'memory.events' },
};

/** Undefined where this process may not make one: without root, in most containers, on anything but Linux. */
export async function memoryGroup(limitMib: number): Promise<MemoryGroup | undefined> {
  const groups = controlGroups('memory');
  if (groups === undefined) return undefined;
  const { limit, peak, kills } = files[groups.version];
  const group = join(groups.root, `plant-store-test-${process.pid}-${limitMib}`);
  const file = (name: string) => join(group, name);
  try {
    await mkdir(group);
    await writeFile(file(limit), `${limitMib * 2 ** 20}`);
  } catch {
    if (existsSync(group)) await rmdir(group);
    return undefined;
  }
  return {
    limitBytes: limitMib * 2 ** 20,
    join: `echo $$ >${file('cgroup.procs')}`,
    peakBytes: async () => Number(await readFile(file(peak), 'utf8')),
    killed: async () => Number(/^oom_kill (\d+)$/m.exec(await readFile(file(kills), 'utf8'))?.[1]),
    [Symbol.asyncDispose]: async () => {
      await waitFor(() => rmdir(group).then(() => true), { withinMs: 5_000, what: `${group} is empty` });
    },
  };
}
