import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** A service process that gets SIGTERM at once; what it logged and its exit code. */
async function ended(close: string): Promise<{ code: number; log: Record<string, unknown>[] }> {
  const source = `
    import { createLogger } from '@plant-store/platform/logger';
    import { runService } from '@plant-store/platform/service';
    await runService('test', async () => ({ logger: createLogger('test', 'i', 'info'), running: { close: ${close} } }));
    setInterval(() => {}, 1_000);
    process.kill(process.pid, 'SIGTERM');`;
  const args = ['--input-type=module-typescript', '--eval', source];
  const { code = 0, stdout } = (await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
    (error: { code: number; stdout: string }) => error,
  )) as { code?: number; stdout: string };
  return {
    code,
    log: stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  };
}

test('a service that closed exits with 0', async () => {
  const { code, log } = await ended('async () => {}');
  expect(log.map(({ msg }) => msg)).toEqual(['draining', 'closed']);
  expect(code).toBe(0);
});

test('a close that is rejected is logged with its reason, and the exit code is 1', async () => {
  const { code, log } = await ended("() => Promise.reject(new Error('the queue did not close'))");
  expect(log.at(-1)).toMatchObject({
    msg: 'closing failed: exiting all the same',
    err: { message: 'the queue did not close' },
  });
  expect(code).toBe(1);
});
