import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { allRows } from '../rows/all-rows.ts';
import { markdown, readmeTable } from './markdown.ts';
import { type Results, toJson } from './results.ts';

const root = resolve(import.meta.dirname, '../../..');
const MARKED = /(?<=<!-- faults: written by npm run faults -- --publish -->\n).*?(?=<!-- faults end -->)/s;

/** What is published of a run: under docs/ and in the README, by file name. The histories stay in the run's own file. */
export function publishedFiles(results: Results): Record<string, string> {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  if (!MARKED.test(readme)) throw new Error('README.md has no place for the fault matrix any more');
  const kept = { ...results, results: results.results.map((result) => ({ ...result, violations: [] })) };
  return {
    'docs/faults.json': `${toJson(kept)}\n`,
    'docs/faults.md': markdown(kept, allRows),
    'README.md': readme.replace(MARKED, () => `${readmeTable(kept, allRows)}\n\n`),
  };
}

/** Writes them. Returns their names. */
export function publish(results: Results): string[] {
  const files = publishedFiles(results);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(root, file), content);
  return Object.keys(files);
}
