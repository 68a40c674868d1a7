import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * What `--version` prints as a version. Running it shows that the binary works on this machine at all.
 * @throws Error in one line when it does not run, as for a missing shared library.
 */
export async function serverVersion(binary: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(binary, ['--version'], { timeout: 20_000 });
    return /\bv=?(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? 'of unknown version';
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1);
    throw new Error(`${binary} does not run here: ${stderr || (error as Error).message.split('\n')[0]}`);
  }
}
