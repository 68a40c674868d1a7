import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const program = join(import.meta.dirname, 'end-processes.ts');

/**
 * When this process exits, at a signal too (with 130), ends all processes that have to do with the directory, and then
 * removes it. A program of its own does so and is waited for: nothing asynchronous happens at an exit, and a library may
 * exit at any time.
 */
export function endAtExit(directory: string): void {
  process.once('exit', () => {
    spawnSync(process.execPath, [program, directory]);
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  // Not once: a library that ends its children at a signal repeats the signal when nobody else listens to it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
}
