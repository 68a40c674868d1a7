import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Exploration } from './explore.ts';

const RESULTS_PAGE = resolve(import.meta.dirname, '../../docs/model-results.md');
const HEADER = '|---|---|---|---|---|---|';

/** Writes the row of a run into the page of results, in place of its last one. */
export function recordResult(result: {
  name: string;
  breaks: string | undefined;
  isExpected: boolean;
  found: Exploration;
  ms: number;
}): void {
  const page = readFileSync(RESULTS_PAGE, 'utf8').trimEnd().split('\n');
  const head = page.slice(0, page.indexOf(HEADER) + 1);
  const rows = page.slice(head.length).filter((row) => !row.startsWith(`| ${result.name} |`));
  rows.push(rowOf(result));
  writeFileSync(RESULTS_PAGE, `${[...head, ...rows.sort()].join('\n')}\n`);
}

function rowOf({ name, breaks, isExpected, found, ms }: Parameters<typeof recordResult>[0]): string {
  const date = new Date().toISOString().slice(0, 10);
  const { violation, complete, trace } = found;
  const holds = complete ? 'holds' : 'holds as far as the limit of states';
  const verdict = violation === undefined ? holds : `breaks ${violation} in ${trace.length} steps`;
  const expected = breaks === undefined ? 'holds' : `breaks ${breaks}`;
  const cells = [name, expected, `${verdict}${isExpected ? '' : ' (NOT as it must)'}`];
  const figures = [found.states.toLocaleString('en'), `${Math.round(ms / 1_000)} s`, date];
  return `| ${[...cells, ...figures].join(' | ')} |`;
}
