import { byRow } from '../report/results.ts';
import { apiRows } from './api-rows.ts';
import { clientRows } from './client-rows.ts';
import { databaseRows } from './database-rows.ts';
import { overloadRows } from './overload-rows.ts';
import { pairRows } from './pair-rows.ts';
import { redisRows } from './redis-rows.ts';
import type { Row } from './row.ts';
import { workerRows } from './worker-rows.ts';

const single: readonly Row[] = [...apiRows, ...workerRows, ...databaseRows, ...redisRows, ...clientRows];

/** The matrix. */
export const allRows: readonly Row[] = [...single, ...overloadRows, ...pairRows(single)].sort((a, b) =>
  byRow(a.row, b.row),
);

/** The rows of these numbers (`2` is also 2b), or exactly those (`2b`). @throws Error naming what there is not. */
export function rowsOf(wanted: readonly string[]): Row[] {
  return wanted.flatMap((want) => {
    const found = allRows.filter(({ row }) => row === want || row.replace(/[a-z]+$/, '') === want);
    if (found.length === 0) throw new Error(`there is no row ${want}`);
    return found;
  });
}
