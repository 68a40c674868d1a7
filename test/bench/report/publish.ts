import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CurveResults } from '../curves/curves.ts';
import { plots } from '../curves/plots.ts';
import { ledgerTables } from '../ledger/ledger-table.ts';
import type { LedgerResults } from '../ledger/measure-ledger.ts';
import type { Results } from '../measure/results.ts';
import { markdown, readmeTable } from './markdown.ts';

const root = resolve(import.meta.dirname, '../../..');
const MARKED =
  /(?<=<!-- benchmark: written by npm run bench -- --publish -->\n).*?(?=<!-- benchmark end -->)/s;

/** Keeps files where the repository has them. Returns their names. */
export function publish(files: Record<string, string>): string[] {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), content);
  }
  return Object.keys(files);
}

/** What is published of a run: under docs/ and in the README. */
export function publishedResults(results: Results): Record<string, string> {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  if (!MARKED.test(readme)) throw new Error('README.md has no place for the benchmark any more');
  return {
    'docs/benchmark.json': `${JSON.stringify(results)}\n`,
    'docs/benchmark.md': markdown(results),
    'README.md': readme.replace(MARKED, () => `${readmeTable(results)}\n\n`),
  };
}

const LEDGER = 'docs/benchmark-ledger.json';
const LEDGER_MARKED =
  /(?<=<!-- ledger: written by npm run bench -- --ledger --publish -->\n).*?(?=<!-- ledger end -->)/s;

/** What is published of index and audit log: figures of this size replace earlier ones, those of other sizes stay. */
export function publishedLedger(results: LedgerResults): Record<string, string> {
  const kept = existsSync(join(root, LEDGER))
    ? (JSON.parse(readFileSync(join(root, LEDGER), 'utf8')) as LedgerResults[])
    : [];
  const all = [...kept.filter(({ plants }) => plants !== results.plants), results];
  const page = readFileSync(join(root, 'docs/performance.md'), 'utf8');
  if (!LEDGER_MARKED.test(page))
    throw new Error('docs/performance.md has no place for these figures any more');
  return {
    [LEDGER]: `${JSON.stringify(all)}\n`,
    'docs/performance.md': page.replace(LEDGER_MARKED, () => `\n${ledgerTables(all)}\n\n`),
  };
}

/** What is published of the curves: what was measured, and the plots of it. */
export async function publishedCurves(results: CurveResults): Promise<Record<string, string>> {
  const drawn = Object.entries(await plots(results)).map(([name, svg]) => [`docs/plots/${name}.svg`, svg]);
  return { 'docs/benchmark-curves.json': `${JSON.stringify(results)}\n`, ...Object.fromEntries(drawn) };
}
