import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@plant-store/local/servers/binaries/server-cache';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const INSTALL_MS_MAX = 170_000;

const run = promisify(execFile);

/** schemathesis cannot run here. The message is one line and names what to install. */
export class SchemathesisMissingError extends Error {
  override readonly name = 'SchemathesisMissingError';
}

/**
 * A directory for PYTHONPATH that holds schemathesis as `requirements.txt` pins it: an earlier installation, else a new
 * one in the user's cache. It is moved into place whole, so concurrent and broken installations do no harm; a virtual
 * environment could not be moved.
 * @throws SchemathesisMissingError
 */
export async function installedSchemathesis(): Promise<string> {
  const python = await pythonVersion();
  const pins = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const path = join(cacheDirectory(), `schemathesis-${pins}-${python}`);
  if (existsSync(path)) return path;

  mkdirSync(cacheDirectory(), { recursive: true });
  const directory = mkdtempSync(`${path}-`);
  try {
    const pinned = ['--require-hashes', '--only-binary', ':all:', '--requirement', REQUIREMENTS];
    await run('python3', ['-m', 'pip', 'install', '--quiet', ...pinned, '--target', directory], {
      timeout: INSTALL_MS_MAX,
    });
    renameSync(directory, path);
  } catch (error) {
    if (!existsSync(path))
      throw new SchemathesisMissingError(`pip cannot install schemathesis: ${reason(error)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return path;
}

/** Wheels with native code belong to one version of Python on one kind of machine. */
async function pythonVersion(): Promise<string> {
  const script = 'import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_platform(), sep="-")';
  try {
    return (await run('python3', ['-c', script])).stdout.trim();
  } catch {
    throw new SchemathesisMissingError('python3 is not installed: install Python 3.11 or newer with pip');
  }
}

function reason(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  const lines = (stderr ?? '').split('\n').map((line) => line.trim());
  return lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.findLast(Boolean) ?? message;
}
