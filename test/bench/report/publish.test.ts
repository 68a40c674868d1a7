import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { publishedCurves, publishedResults } from './publish.ts';

const root = resolve(import.meta.dirname, '../../..');

async function expectCurrent(json: string, render: (results: never) => unknown): Promise<void> {
  const results = JSON.parse(readFileSync(resolve(root, json), 'utf8')) as never;
  for (const [file, content] of Object.entries((await render(results)) as Record<string, string>)) {
    expect(readFileSync(resolve(root, file), 'utf8'), file).toBe(content);
  }
}

test('docs/benchmark.md and the table of the README say what docs/benchmark.json holds', async () => {
  await expectCurrent('docs/benchmark.json', publishedResults);
});

test('the plots show what docs/benchmark-curves.json holds', async () => {
  await expectCurrent('docs/benchmark-curves.json', publishedCurves);
});
