import type { Row } from '../rows/row.ts';
import { byRow, type Results, type RowResult } from './results.ts';

/** One line of the table: a row of the matrix with all its seeds; without any it was not run. */
type Line = Pick<RowResult, 'row' | 'title' | 'moment'> & { runs: RowResult[] };

/** docs/faults.md. @param rows all of the matrix */
export function markdown(results: Results, rows: readonly Row[]): string {
  const { date, versions, machine, mutants } = results;
  return `# Faults

The fault matrix: \`npm run faults\` starts the whole product as processes (two API replicas, two workers, and nginx where a
row needs it) with a real mongod (one member or three) and a real redis-server. Every link leads through a proxy that can
delay, hold, cut, or deliver a request and lose the reply. Under load, with 5 % deliberate duplicates, a fault begins at a
moment that the seed chooses, or exactly at a step of the protocol. It ends; clients send again, with their key, what
was unknown; everything becomes quiet and is read once. Then every invariant of [invariants.md](invariants.md) is checked:
S1 to S6 by the history of the requests against the plants, E1 to E6 by plants, index, queue and audit log, which is also
verified as \`audit verify\` does it, L1, L2 and L5 by the times and exits: a process that ends by itself breaks L5. Of L3 the
matrix shows that creates stay 200 and wait for nothing; p99 is a figure of the [benchmark](benchmark.md). A failure prints its seed and the history of requests that
broke a promise.

Where the table says that a duration was shorter than the matrix asks for, \`--whole\` runs it in full. [CONTRIBUTING.md](../CONTRIBUTING.md) has the
commands.

Last run: ${date}, version ${versions.product}, MongoDB ${versions.mongod}, Redis ${versions.redis}, nginx ${versions.nginx}, Node ${versions.node}, on
${machine}.

${table(results.results, rows)}

“Requests” counts the attempts of all seeds: answered 200, refused for certain, unknown. “Slowest” is the longest any
request took. “Recovered” is the time from the end of the fault until creates succeed again, “quiet” until nothing is
pending and no job is left; both are the worst of all seeds. “Run” is the
day, and the commit whose tree ran: a row that was not repeated since has an older one, and was judged by the checks of that
commit. “+” is a tree with changes that were not committed.

## Faults put into the product

\`npm run faults -- --mutants\` builds each deliberately faulty variant of the product in a temporary folder (a copy of
services and packages in which one text is another) and runs the row that must catch it. Nothing in the product can be
switched to such a fault.

${mutantTable(mutants)}
`;
}

function mutantTable(mutants: Results['mutants']): string {
  const lines = mutants.map(({ name, row, isCaught, found = '', date, commit }) => {
    const invariant = found.slice(0, found.indexOf(':'));
    return `| ${name} | ${row} | ${isCaught ? `caught: ${invariant}` : '**not caught**'} | ${date} ${commit} |`;
  });
  return ['| fault put in | row | | run |', '|---|---|---|---|', ...lines].join('\n');
}

export function table(results: readonly RowResult[], rows: readonly Row[] = []): string {
  const header = [
    '| row | fault | moment | seeds | verdict | requests | slowest | recovered | quiet | run |',
    '|---|---|---|---|---|---|---|---|---|---|',
  ];
  return [...header, ...linesOf(results, rows).map(tableLine)].join('\n');
}

function tableLine({ row, title, moment, runs }: Line): string {
  const worst = (field: 'slowestMs' | 'recoveredMs' | 'quietMs') =>
    seconds(Math.max(...runs.map((run) => run[field])));
  const sum = (field: 'ok' | 'refused' | 'unknown') =>
    runs.reduce((total, { requests }) => total + requests[field], 0);
  const seeds = runs.map(({ seed }) => seed).join(', ');
  const requests = `${sum('ok')} / ${sum('refused')} / ${sum('unknown')}`;
  const measured = verdictOf(runs).startsWith('not run')
    ? ['–', '–', '–', '–']
    : [requests, worst('slowestMs'), worst('recoveredMs'), worst('quietMs')];
  const notes = [...new Set(runs.flatMap(({ note }) => note ?? []))].join(', ');
  const ran = [...new Set(runs.map(({ date, commit }) => `${date} ${commit}`))].join(', ');
  const when = notes === '' ? moment : `${moment} (${notes})`;
  return `| ${[row, title, when, seeds, verdictOf(runs), ...measured, ran].join(' | ')} |`;
}

function verdictOf(runs: readonly RowResult[]): string {
  const failed = runs.filter(({ verdict }) => verdict === 'fails').length;
  if (failed > 0) return `**fails** (${failed} of ${runs.length})`;
  if (runs.length === 0) return 'not run';
  const notRun = runs.find(({ verdict }) => verdict === 'not run');
  return notRun === undefined ? 'holds' : `not run: ${notRun.reason}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function linesOf(results: readonly RowResult[], rows: readonly Row[]): Line[] {
  const lines = new Map<string, Line>();
  for (const { row, title, moment } of rows) lines.set(row, { row, title, moment, runs: [] });
  for (const result of results) {
    const { row, title, moment } = result;
    const line = lines.get(row) ?? { row, title, moment, runs: [] };
    line.runs.push(result);
    lines.set(row, line);
  }
  return [...lines.values()].sort((a, b) => byRow(a.row, b.row));
}

/** What the README shows: counts and the rows that do not hold. */
export function readmeTable({ date, versions, results, mutants }: Results, rows: readonly Row[]): string {
  const lines = linesOf(results, rows);
  const commits = new Set(results.map(({ commit }) => commit)).size;
  const holding = lines.filter(({ runs }) => verdictOf(runs) === 'holds');
  const others = lines.filter((line) => !holding.includes(line));
  const byVerdict = Map.groupBy(others, ({ runs }) => verdictOf(runs));
  const exceptions = [...byVerdict]
    .map(([verdict, which]) => `${verdict}: ${which.map(({ row }) => row).join(', ')}`)
    .join('; ');
  return [
    `Last run ${date}, version ${versions.product}, with MongoDB ${versions.mongod}, Redis ${versions.redis}, Node ${versions.node}:`,
    `${holding.length} of ${lines.length} rows hold, in ${results.length} runs of ${commits === 1 ? 'one commit' : `${commits} commits`}${exceptions === '' ? '' : ` (${exceptions})`};`,
    `${mutants.filter(({ isCaught }) => isCaught).length} of ${mutants.length} faults put into the product on purpose are caught.`,
  ].join('\n');
}
