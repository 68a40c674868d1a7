import { expect, test } from 'vitest';
import { waitFor } from '../wait-for.ts';
import { launch } from './launch.ts';
import { threadStates } from './stopped.ts';

const THREADS = 16;
const busy = `
  const { Worker } = require('node:worker_threads');
  for (let n = 0; n < ${THREADS}; n++) new Worker('for (;;);', { eval: true }).on('online', () => console.log('busy'));
`;

test('a process that was sent SIGSTOP runs no more: none of its threads does, however busy the machine', async () => {
  await using started = launch('node', ['-e', busy]);
  await waitFor(() => started.stdout().match(/busy/g)?.length === THREADS, {
    withinMs: 10_000,
    what: 'all threads are busy',
  });
  expect(threadStates(started.pid)).toContain('R');
  try {
    started.signal('SIGSTOP');
    expect(new Set(threadStates(started.pid))).toEqual(new Set(['T']));
  } finally {
    await started.stop('SIGKILL');
  }
});
