import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { logFile } from './log-files.ts';

const MIB = 2 ** 20;

test('a log is bounded: 10 MB, and two files of the past', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-logs-'));
  try {
    const failures: string[] = [];
    const log = logFile(directory, 'api-1', (failure) => failures.push(failure));
    for (let written = 0; written < 45; written++) {
      await new Promise((resolve) => log.write(Buffer.alloc(MIB, 'x'), resolve));
    }
    await finished(log.end());
    expect(failures).toEqual([]);
    expect(readdirSync(directory).toSorted()).toEqual(['api-1.log', 'api-1.log.1', 'api-1.log.2']);
    expect(statSync(join(directory, 'api-1.log.1')).size).toBeLessThanOrEqual(11 * MIB);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
