import type { MutantResult, RowResult } from '../report/results.ts';
import { testedCommit } from '../report/tested-commit.ts';
import { rowsOf } from '../rows/all-rows.ts';
import { runRow } from '../run-row.ts';
import { faultyCopy } from './faulty-copy.ts';
import type { Mutant } from './mutants.ts';

/** A fault that depends on the moment may need another seed to show. */
const SEEDS_MAX = 3;

/** Runs the row that must catch it with one seed after the other, until a promise is broken that the mutant breaks. */
export async function runMutant(mutant: Mutant, report: (line: string) => void): Promise<MutantResult> {
  await using copy = await faultyCopy(mutant);
  const [row] = rowsOf([mutant.row]).filter((each) => each.row === mutant.row);
  if (row === undefined)
    throw new Error(`the mutant "${mutant.name}" names row ${mutant.row}, which there is not`);
  const tested = { name: mutant.name, row: row.row, ...(await testedCommit()) };
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const result = await runRow(row, seed, report, { tree: copy.tree });
    const caught = caughtBy(result, mutant);
    if (caught !== undefined) return { ...tested, isCaught: true, seed, found: caught };
    report(`row ${row.row}, seed ${seed}: not caught yet (${result.reason ?? result.verdict})`);
  }
  return { ...tested, isCaught: false };
}

function caughtBy({ violations }: RowResult, { breaks }: Mutant): string | undefined {
  const broken = violations.find(({ invariant }) => breaks.includes(invariant));
  return broken && `${broken.invariant}: ${broken.found}`;
}

export function mutantLine({ name, row, isCaught, seed, found }: MutantResult): string {
  if (!isCaught) return `not caught  ${name}: row ${row} does not notice it`;
  return `caught      ${name}: by row ${row}, seed ${seed}: ${found}`;
}
