/**
 * `npm run faults`: the product as processes under load, one fault after the other. What it promises is checked after
 * each (docs/invariants.md). What came of the last published run: docs/faults.md.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { commandLine } from '../harness/command-line.ts';
import { endAtExit } from '../harness/processes/end-at-exit.ts';
import { mutants } from './mutants/mutants.ts';
import { mutantLine, runMutant } from './mutants/run-mutant.ts';
import { table } from './report/markdown.ts';
import { failureText, resultLine, summary } from './report/progress.ts';
import { publish } from './report/publish.ts';
import { type MutantResult, type RowResult, toJson } from './report/results.ts';
import { readResults, withEarlier } from './report/results-file.ts';
import { allRows, rowsOf } from './rows/all-rows.ts';
import { runRow } from './run-row.ts';

const usage = `npm run faults -- [--rows 1,2b,…] [--seeds N | --seed S] [--whole] [--json FILE]
npm run faults -- --mutants [--rows 1,2b,…] [--json FILE]
npm run faults -- --publish FILE
  --rows          the rows of these numbers, all their forms (2 is also 2b); all rows when absent
  --seeds N       each row with the seeds 1 to N (default 1); --seed S with that one
  --whole         the durations of the matrix, such as 60 s without a worker, instead of short ones
  --json FILE     all results; those of an earlier run that FILE holds are kept where they are not repeated
  --mutants       builds each deliberately faulty variant of the product outside the tree and runs the row that must
                  catch it, up to three seeds; FILE keeps the matrix' results and gets the mutants' as well
  --publish FILE  runs nothing: writes docs/faults.json, docs/faults.md and the result in the README from FILE
`;

const { values: options } = commandLine('faults', usage, {
  options: {
    rows: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    seed: { type: 'string' },
    whole: { type: 'boolean', default: false },
    json: { type: 'string' },
    publish: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
if (options.help) {
  say(usage);
  process.exit(0);
}

/** Where all files of the run lie. Every process that is started knows it, so that those left behind are found. */
const folder = mkdtempSync(join(tmpdir(), 'plant-store-faults-'));
process.env['TMPDIR'] = folder;
endAtExit(folder);

// An exception that no row awaits, as in a timer, ends the run and its processes.
process.on('uncaughtException', (error) => {
  process.stderr.write(`faults: ${error.stack}\n`);
  process.exit(2);
});

try {
  if (options.mutants) await runMutants();
  else if (options.publish === undefined) await runMatrix();
  else for (const file of publish(readResults(resolve(options.publish)))) say(`wrote ${file}`);
} catch (error) {
  process.stderr.write(`faults: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
process.exit();

/** The exit code is 1 when a promise was broken. */
async function runMatrix(): Promise<void> {
  const rows = wantedRows();
  const seeds = seedsOf(options);
  const results: RowResult[] = [];
  for (const row of rows) {
    for (const seed of seeds) {
      const result = await runRow(row, seed, (line) => say(`      ${line}`), { isWhole: options.whole });
      results.push(result);
      say(resultLine(result));
      if (result.verdict === 'fails') say(failureText(result));
      await keep({ results });
    }
  }
  say(`\n${table(results)}\n\n${summary(results)}`);
  if (results.some(({ verdict }) => verdict === 'fails')) process.exitCode = 1;
}

/** The exit code is 1 when a mutant was not caught. */
async function runMutants(): Promise<void> {
  const rows = new Set(wantedRows().map(({ row }) => row));
  const tested: MutantResult[] = [];
  for (const mutant of mutants.filter(({ row }) => rows.has(row))) {
    const result = await runMutant(mutant, say);
    tested.push(result);
    say(mutantLine(result));
    await keep({ mutants: tested });
  }
  const missed = tested.filter(({ isCaught }) => !isCaught);
  say(`${tested.length} mutants, ${missed.length} not caught`);
  if (missed.length > 0 || tested.length === 0) process.exitCode = 1;
}

function wantedRows() {
  return options.rows === undefined ? allRows : rowsOf(options.rows.split(','));
}

/** Writes what was found by now, together with what an earlier run has left in the file. */
async function keep(found: {
  results?: readonly RowResult[];
  mutants?: readonly MutantResult[];
}): Promise<void> {
  if (options.json === undefined) return;
  const file = resolve(options.json);
  writeFileSync(file, `${toJson(await withEarlier(found, file))}\n`);
}

function seedsOf({ seed, seeds }: { seed?: string | undefined; seeds: string }): number[] {
  const read = (text: string) => {
    if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is no number of seeds: give a whole one from 1`);
    return Number(text);
  };
  if (seed !== undefined) return [read(seed)];
  return Array.from({ length: read(seeds) }, (_, index) => index + 1);
}
