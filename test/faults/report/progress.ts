import type { Violation } from '../checkers/violation.ts';
import type { Operation } from '../history/history.ts';
import type { RowResult } from './results.ts';

const HISTORIES_MAX = 5;

/** One line for the terminal. */
export function resultLine({
  row,
  seed,
  verdict,
  title,
  note,
  requests,
  seconds,
  reason,
}: RowResult): string {
  const mark = { holds: 'ok  ', fails: 'NOT ', 'not run': '–   ' }[verdict];
  const { ok, refused, unknown } = requests;
  const why = reason === undefined ? '' : `\n      ${reason}`;
  const counts = `${ok} ok, ${refused} refused, ${unknown} unknown, ${seconds} s`;
  return `${mark}${row.padEnd(4)} seed ${seed}  ${title}${note === undefined ? '' : `: ${note}`}  (${counts})${why}`;
}

/** Everything that helps to understand a failure: each broken promise with the history that broke it. */
export function failureText({ row, seed, violations }: RowResult): string {
  const lines = [`row ${row}, seed ${seed}: repeat it with: npm run faults -- --rows ${row} --seed ${seed}`];
  for (const violation of violations.slice(0, HISTORIES_MAX)) lines.push(...violationLines(violation));
  const more = violations.length - HISTORIES_MAX;
  if (more > 0) lines.push(`  and ${more} more`);
  return lines.join('\n');
}

function violationLines({ invariant, found, history }: Violation): string[] {
  return [`  ${invariant}: ${found}`, ...history.flatMap(operationLines)];
}

function operationLines({ number, kind, id, name, key, subject, attempts }: Operation): string[] {
  const sent = JSON.stringify({ id: String(id), name, key, subject });
  return [
    `    operation ${number} (${kind}) ${sent}`,
    ...attempts.map(
      ({ invokedMs, endedMs, outcome, answer, target, replayed }) =>
        `      ${Math.round(invokedMs)} to ${Math.round(endedMs)} ms, ${target}: ${outcome}${replayed ? ', replayed' : ''}, ${answer}`,
    ),
  ];
}

/** The table at the end of a run. */
export function summary(results: readonly RowResult[]): string {
  const count = (verdict: RowResult['verdict']) => results.filter((each) => each.verdict === verdict).length;
  return `${results.length} runs: ${count('holds')} hold, ${count('fails')} fail, ${count('not run')} not run`;
}
