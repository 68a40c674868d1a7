import { resolve } from 'node:path';
import { launch } from '../../harness/processes/launch.ts';
import type { RowResult } from './results.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Today, and the commit of this tree, with a `+` where the tree differs from it; without git `unknown`. */
export async function testedCommit(): Promise<Pick<RowResult, 'date' | 'commit'>> {
  const git = async (...args: string[]) => (await launch('git', args, { cwd: root }).ended).stdout.trim();
  const date = new Date().toISOString().slice(0, 10);
  try {
    const commit = await git('rev-parse', '--short=7', 'HEAD');
    const changed = await git('status', '--porcelain', '--', 'deploy', 'services', 'packages', 'test');
    return { date, commit: `${commit || 'unknown'}${changed === '' ? '' : '+'}` };
  } catch {
    return { date, commit: 'unknown' };
  }
}
