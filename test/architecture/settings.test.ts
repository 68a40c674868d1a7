import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Names of variables in a `settings` table of the code: `NAME: str(…)`. */
const DECLARED = /^ {2}([A-Z][A-Z0-9_]+): [a-z]\w*\(/gm;

const declared = new Set(
  [
    'packages/platform/src/configuration/common-settings.ts',
    'deploy/local/config.ts',
    ...globSync('services/*/src/**/config.ts', { cwd: root }),
  ].flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(DECLARED)].map(([, name]) => name as string),
  ),
);
const documented = new Set(
  [...readFileSync(join(root, 'docs/operations.md'), 'utf8').matchAll(/^\|[^|]*\|/gm)].flatMap(([cell]) =>
    [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name as string),
  ),
);

test('every setting of the services and of npm start is documented in docs/operations.md', () => {
  expect(declared.size).toBeGreaterThan(30);
  expect([...declared].filter((name) => !documented.has(name))).toEqual([]);
});
