import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { allRows } from '../rows/all-rows.ts';
import { mutants } from './mutants.ts';

const root = resolve(import.meta.dirname, '../../..');

test.each(mutants)(
  'the mutant “$name” still applies, and a row is there to catch it',
  ({ file, text, row }) => {
    expect(readFileSync(join(root, file), 'utf8').split(text)).toHaveLength(2);
    expect(allRows.map((each) => each.row)).toContain(row);
  },
);
