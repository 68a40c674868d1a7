import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** How many files a process may open here, at most (`ulimit -Hn`). */
export async function openFilesMax(): Promise<number> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -Hn']);
  return stdout.trim() === 'unlimited' ? Number.POSITIVE_INFINITY : Number(stdout);
}
