import { execa } from 'execa';
import { expect, test } from 'vitest';

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
