import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { published } from './publish.ts';

const root = resolve(import.meta.dirname, '../../..');

test('docs/benchmark.md and the table of the README say what docs/benchmark.json holds', () => {
  const results = JSON.parse(readFileSync(resolve(root, 'docs/benchmark.json'), 'utf8'));
  for (const [file, content] of Object.entries(published(results))) {
    expect(readFileSync(resolve(root, file), 'utf8'), file).toBe(content);
  }
});
