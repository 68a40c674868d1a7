import { execa } from 'execa';
import { expect, test } from 'vitest';

const cwd = new URL('../../', import.meta.url);

test.each([
  ['faults', 'test/faults/main.ts'],
  ['bench', 'test/bench/main.ts'],
  ['model', 'test/model/main.ts'],
  ['schemathesis', 'test/contract/schemathesis/main.ts'],
])('npm run %s tells a wrong argument with its usage, without a stack trace', async (name, file) => {
  const { exitCode, stdout, stderr } = await execa('node', [file, '--wrong'], { cwd, reject: false });
  // Before it, some say what is not installed.
  expect(stderr).toMatch(new RegExp(`^${name}: Unknown option '--wrong'.*\n.*npm run ${name} -- `, 'm'));
  expect(stderr).not.toContain('    at ');
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
});
