import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { processesOf } from '../harness/processes/processes.ts';

const main = resolve(import.meta.dirname, 'main.ts');

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle of a round leaves no process and no file behind',
  async (signal) => {
    const folder = join(mkdtempSync(join(tmpdir(), 'bench-')), 'of-this-test');
    mkdirSync(folder);
    const bench = spawn(process.execPath, [main, '--quick'], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const gone = once(bench, 'exit');
    // The load generator runs: database, queue, API and worker do so as well.
    await expect
      .poll(() => commandsIn(folder), { timeout: 50_000 })
      .toEqual(expect.arrayContaining([expect.stringMatching(/create-plants\.lua|generator\.ts/)]));

    bench.kill(signal);
    expect(await gone).toEqual([130, null]);
    await expect.poll(() => commandsIn(folder), { timeout: 10_000 }).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  },
);

async function commandsIn(folder: string): Promise<string[]> {
  return (await processesOf(folder)).map(({ command }) => command);
}
