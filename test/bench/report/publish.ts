import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Results } from '../measure/results.ts';
import { markdown, readmeTable } from './markdown.ts';

const root = resolve(import.meta.dirname, '../../..');
const MARKED =
  /(?<=<!-- benchmark: written by npm run bench -- --publish -->\n).*?(?=<!-- benchmark end -->)/s;

/** Keeps a run's results under docs/ and in the README. Returns what was written. */
export function publish(results: Results): string[] {
  const files = published(results);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(root, file), content);
  return Object.keys(files);
}

/** The published files as they are with these results. */
export function published(results: Results): Record<string, string> {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  if (!MARKED.test(readme)) throw new Error('README.md has no place for the benchmark any more');
  return {
    'docs/benchmark.json': `${JSON.stringify(results)}\n`,
    'docs/benchmark.md': markdown(results),
    'README.md': readme.replace(MARKED, () => `${readmeTable(results)}\n\n`),
  };
}
