import { execa } from 'execa';

const ANSWER_MS_MAX = 20_000;

/**
 * What `--version` prints as a version. Running it shows that the binary works on this machine at all.
 * @throws Error in one line when it does not run, as for a missing shared library.
 */
export async function serverVersion(binary: string): Promise<string> {
  const { failed, stdout, stderr, originalMessage, exitCode } = await execa(binary, ['--version'], {
    timeout: ANSWER_MS_MAX,
    reject: false,
  });
  if (failed) {
    const reason = stderr?.trim().split('\n').at(-1) || originalMessage || `exit code ${exitCode}`;
    throw new Error(`${binary} does not run here: ${reason}`);
  }
  return /\bv=?(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? 'of unknown version';
}
