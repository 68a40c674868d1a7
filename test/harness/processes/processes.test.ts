import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from '../wait-for.ts';
import { endProcessesOf, processesOf } from './processes.ts';

test('processes that one starts while they are being ended are ended too', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
  const script = 'for n in $(seq 300); do sleep 60 & sleep 0.005; done; wait';
  const parent = spawn('sh', ['-c', script], { cwd: directory, stdio: 'ignore' });
  try {
    await waitFor(async () => (await processesOf(directory)).length > 3, {
      withinMs: 5_000,
      what: 'it starts others',
    });
    const ended = await endProcessesOf(directory);
    expect(ended.map(({ pid }) => pid)).toContain(parent.pid);
    await waitFor(async () => (await processesOf(directory)).length === 0, {
      withinMs: 5_000,
      what: 'none is left',
    });
  } finally {
    await endProcessesOf(directory);
    await rm(directory, { recursive: true });
  }
});
