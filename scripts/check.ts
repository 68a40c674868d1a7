import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { steps } from './check-steps.ts';

/** Without this, the linter of the OpenAPI document asks the package registry for updates of itself. */
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

const root = join(import.meta.dirname, '..');
const failed: string[] = [];
for (const { name, program, args } of steps) {
  process.stdout.write(styleText('bold', `${name} (${[program, ...args].join(' ')})\n`));
  const binary = program === 'node' ? process.execPath : join(root, 'node_modules/.bin', program);
  const { status } = spawnSync(binary, args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) failed.push(name);
}

if (failed.length > 0) {
  process.stderr.write(styleText('red', `failed: ${failed.join(', ')}\n`, { stream: process.stderr }));
  process.exitCode = 1;
} else {
  process.stdout.write(`${steps.length} checks passed\n`);
}
