import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unsafePatterns } from './patterns.ts';

/** Exits with 1 when a regular expression of the product can be made slow by what it is given. Tests are left out. */
const root = join(import.meta.dirname, '..');
const files = globSync('{services,packages,deploy}/**/*.{ts,js,cjs,conf.template}', {
  cwd: root,
  exclude: (path) => path.endsWith('node_modules') || path.endsWith('.test.ts'),
});
if (files.length === 0) throw new Error('no file is found to check');
for (const file of files) {
  for (const { line, text, problem } of await unsafePatterns(file, readFileSync(join(root, file), 'utf8'))) {
    process.stderr.write(`${file}:${line}: ${text} ${problem}\n`);
    process.exitCode = 1;
  }
}
if (process.exitCode === 1) {
  process.stderr.write(
    'Rewrite them in linear time. One that meets no input is excused by the comment "pattern-check: <reason>" on its line or the line before.\n',
  );
}
