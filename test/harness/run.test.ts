import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { launch } from './processes/launch.ts';
import { processesOf } from './processes/processes.ts';
import { waitFor } from './wait-for.ts';

const run = resolve(import.meta.dirname, '../run.ts');
const hanging = `
  import { spawn } from 'node:child_process';
  test('hangs', async () => {
    for (;;) {
      spawn('sleep', ['600'], { cwd: import.meta.dirname, stdio: 'ignore' });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }, 60_000);
`;

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends a run of the tests with 130, and leaves no process and no file behind',
  async (signal) => {
    const directory = mkdtempSync(join(tmpdir(), 'run-'));
    const [tests, temporary] = [join(directory, 'tests'), join(directory, 'temporary')];
    for (const each of [tests, temporary]) mkdirSync(each);
    writeFileSync(join(tests, 'hanging.test.js'), hanging);
    const started = launch('node', [run, '--root', tests, '--globals'], {
      environment: { TMPDIR: temporary },
    });
    const sleeping = async () =>
      (await processesOf(tests)).filter(({ command }) => command.startsWith('sleep')).length;
    await waitFor(async () => (await sleeping()) > 3, {
      withinMs: 20_000,
      what: 'the test starts processes',
    });
    expect((await started.stop(signal)).code).toBe(130);
    expect(await sleeping()).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
  },
);

test('npm test names each skipped test before its last line', async () => {
  const { stdout, exitCode } = await execa(
    'node',
    ['test/run.ts', 'test/containers', 'test/contract/openapi'],
    {
      cwd: new URL('../../', import.meta.url),
      // Without a container engine, on a person's machine.
      env: { CI: 'false', DOCKER_HOST: 'unix:///nonexistent', COMPOSE_COMMAND: '' },
    },
  );
  const lines = stdout.split('\n');
  const skipped = lines.filter((line) =>
    line.startsWith('  test/containers/compose.test.ts: docker-compose.yml > '),
  );
  expect(skipped.length).toBeGreaterThan(5);
  expect(lines.at(-1)).toMatch(new RegExp(`^\\d+ passed, 0 failed, ${skipped.length} skipped$`));
  expect(lines.slice(-2 - skipped.length, -1)).toEqual(['skipped:', ...skipped]);
  expect(exitCode).toBe(0);
});
