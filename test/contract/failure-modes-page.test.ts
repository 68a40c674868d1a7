import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allRows } from '../faults/rows/all-rows.ts';
import { root } from './named-tests.ts';

const page = readFileSync(join(root, 'docs/failure-modes.md'), 'utf8');
const lines = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what fails'));
const cells = lines.map((line) => line.slice(2, -2).split(' | '));

test.each(cells.map((line) => [line[0] as string, line.at(-1) as string]))(
  '“%s” names rows of the matrix or a test that show it',
  (_fails, shown) => {
    for (const name of shown.split(', ')) {
      if (name.startsWith('`')) expect(existsSync(join(root, name.slice(1, -1))), name).toBe(true);
      else expect(allRows.map(({ row }) => row)).toContain(name);
    }
  },
);
