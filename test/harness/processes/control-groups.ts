import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the control groups of Linux for a controller, and their version; undefined where there are none. */
export function controlGroups(controller: 'cpu' | 'memory'): { root: string; version: 1 | 2 } | undefined {
  const versions = [
    { root: join('/sys/fs/cgroup', controller), version: 1 },
    { root: '/sys/fs/cgroup', version: 2 },
  ] as const;
  // Where version 1 is mounted below it, the root of version 2 may be an ordinary folder.
  return versions.find(({ root }) => existsSync(join(root, 'cgroup.procs')));
}
