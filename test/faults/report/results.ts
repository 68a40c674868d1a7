import type { Violation } from '../checkers/violation.ts';
import type { Row } from '../rows/row.ts';

/** What came of one row with one seed. Times are milliseconds. */
export type RowResult = Pick<Row, 'row' | 'title' | 'moment'> & {
  /** What the seed chose. */
  note?: string;
  seed: number;
  /** Day of the run, as 2026-11-21. */
  date: string;
  /** What ran: a commit, with `+` where the tree differed from it. */
  commit: string;
  verdict: 'holds' | 'fails' | 'not run';
  /** Why it was not run, or what went wrong with the run itself. */
  reason?: string;
  violations: readonly Violation[];
  /** Requests by how they ended. */
  requests: { ok: number; refused: number; unknown: number };
  slowestMs: number;
  /** From the end of the fault until 99 % of the creates succeeded (L2). */
  recoveredMs: number;
  /** From the end of the fault until a plant that was created then was indexed and audited (L2). */
  processedMs: number;
  /** Until nothing was pending and no job was left (E1, E3). */
  quietMs: number;
  seconds: number;
};

/** What became of a faulty variant of the product. */
export type MutantResult = Pick<RowResult, 'date' | 'commit'> & {
  name: string;
  /** The row that had to catch it. */
  row: string;
  isCaught: boolean;
  /** The seed that showed it. */
  seed?: number;
  /** What the row found, the first of it: an invariant and what broke it. */
  found?: string;
};

/** Results of one or several runs, by which the table of docs/faults.md is made. */
export type Results = {
  /** Day of the last run, as 2026-11-21. */
  date: string;
  versions: { product: string; mongod: string; redis: string; node: string; nginx: string };
  machine: string;
  results: readonly RowResult[];
  mutants: readonly MutantResult[];
};

/** BSON's and JSON's int64: exact, as text. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each));
}

/** Those of a later run replace those of the same row and seed. */
export function mergeResults(earlier: readonly RowResult[], later: readonly RowResult[]): RowResult[] {
  const keyOf = ({ row, seed }: RowResult) => `${row} ${seed}`;
  const merged = new Map([...earlier, ...later].map((result) => [keyOf(result), result]));
  return [...merged.values()].sort((a, b) => byRow(a.row, b.row) || a.seed - b.seed);
}

/** 2 before 2b before 10. */
export function byRow(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10) || a.localeCompare(b);
}
