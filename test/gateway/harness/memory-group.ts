import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
const versions = [
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
    kills: 'memory.oom_control',
  },
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak', kills: 'memory.events' },
];

/** Undefined where this process may not make one: without root, in most containers, on anything but Linux. */
export async function memoryGroup(limitMib: number): Promise<MemoryGroup | undefined> {
  for (const { root, limit, peak, kills } of versions) {
    // Where version 1 is mounted below it, the root of version 2 may be an ordinary folder.
    if (!existsSync(join(root, 'cgroup.procs'))) continue;
    const group = join(root, `plant-store-test-${process.pid}-${limitMib}`);
    const file = (name: string) => join(group, name);
    try {
      await mkdir(group);
      await writeFile(file(limit), `${limitMib * 2 ** 20}`);
    } catch {
      if (existsSync(group)) await rmdir(group);
      continue;
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
  return undefined;
}
