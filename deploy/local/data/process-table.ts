import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export type ProcessEntry = {
  pid: number;
  group: number;
  /** When it started. Pids are reused: the same pid with another start time is another process. */
  since: string;
};

/** All processes of this machine, except those that have ended and are not reaped yet. */
export function processTable(): ProcessEntry[] {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs();
}

/**
 * proc(5): the fields after the command are state, parent and group; the 18th is the number of threads, the 20th the
 * start in clock ticks. A killed process is a zombie (Z) as soon as its first thread has ended, and holds its files and
 * ports until the last one has ended.
 */
function fromProc(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const [state, , group, ...rest] = readStat(pid)
        .replace(/^.*\) /s, '')
        .split(' ');
      const [threads, since] = [Number(rest[14]), rest[16]];
      if (since === undefined || (state === 'Z' && threads <= 1)) return [];
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
