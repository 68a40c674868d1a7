import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { publishedFiles } from './publish.ts';
import type { Results } from './results.ts';

const root = resolve(import.meta.dirname, '../../..');

test('docs/faults.md and the README say what docs/faults.json holds', () => {
  const results = JSON.parse(readFileSync(resolve(root, 'docs/faults.json'), 'utf8')) as Results;
  for (const [file, content] of Object.entries(publishedFiles(results))) {
    expect(readFileSync(resolve(root, file), 'utf8'), file).toBe(content);
  }
});
