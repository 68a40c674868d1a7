import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export type ProcessEntry = {
  pid: number;
  group: number;
  /** When it started. Pids are used again: only the same start means the same process. */
  since: string;
};

/** All processes of this machine that still run; one that has ended and is only waited for is not among them. */
export function processTable(): ProcessEntry[] {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs();
}

/** proc(5): state, parent and group are the first fields behind the command, the start in clock ticks is the 20th. */
function fromProc(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const [state, , group, ...rest] = readStat(pid)
        .replace(/^.*\) /s, '')
        .split(' ');
      const since = rest[16];
      if (since === undefined || state === 'Z') return [];
      return [{ pid: Number(pid), group: Number(group), since }];
    });
}

/** Nothing for a process that has ended meanwhile. */
function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/** For systems without /proc, as macOS. */
export function fromPs(): ProcessEntry[] {
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,pgid=,stat=,lstart='], { encoding: 'utf8' });
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [pid, group, state, ...since] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith('Z')) return [];
    return [{ pid: Number(pid), group: Number(group), since: since.join(' ') }];
  });
}
