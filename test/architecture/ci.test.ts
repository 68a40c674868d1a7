import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

test('the suites that CI runs on other servers are there', () => {
  const script = readFileSync(resolve(root, '.ci/run'), 'utf8');
  const [, list = ''] = /^servers=\((.*)\)$/m.exec(script) ?? [];
  const suites = [...list.split(' '), 'test/containers'];
  expect(suites.length).toBeGreaterThan(4);
  expect(suites.filter((suite) => !existsSync(resolve(root, suite)))).toEqual([]);
});
