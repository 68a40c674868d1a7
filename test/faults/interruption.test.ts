import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { launch } from '../harness/processes/launch.ts';
import { processesOf } from '../harness/processes/processes.ts';
import { needsServers } from '../harness/servers/servers.ts';

needsServers();
const main = resolve(import.meta.dirname, 'main.ts');

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle of a row leaves no process and no file behind',
  async (signal) => {
    const folder = join(mkdtempSync(join(tmpdir(), 'faults-')), 'of-this-test');
    mkdirSync(folder);
    const faults = launch('node', [main, '--rows', '13'], { environment: { TMPDIR: folder } });
    // Database, queue, replicas and workers run.
    await expect
      .poll(() => commandsIn(folder), { timeout: 50_000 })
      .toEqual(expect.arrayContaining([expect.stringContaining('services/api/src/main.ts')]));

    expect((await faults.stop(signal)).code).toBe(130);
    await expect.poll(() => commandsIn(folder), { timeout: 10_000 }).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  },
);

async function commandsIn(folder: string): Promise<string[]> {
  return (await processesOf(folder)).map(({ command }) => command);
}
