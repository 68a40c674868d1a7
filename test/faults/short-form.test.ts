import { expect, test } from 'vitest';
import { needsServers } from '../harness/servers/servers.ts';
import { underLoadMs } from '../harness/wait-for.ts';
import { rowsOf } from './rows/all-rows.ts';
import { runRow } from './run-row.ts';

/**
 * The fault matrix in short: one row for each link of the chain from the request to the audit log, with one seed. `npm
 * run faults` runs all rows. A rolling restart is a test of the gateway (test/gateway/replicas), and Redis lost for good
 * one of the system (test/system/redis-lost.test.ts).
 */
needsServers();
const SEED = 1;
const ROWS = ['2', '9', '15', '21', '32'];

test.each(rowsOf(ROWS).filter(({ row }) => ROWS.includes(row)))(
  'row $row: $title, $moment: every invariant holds',
  async (row) => {
    const { verdict, reason, violations } = await runRow(row, SEED, () => {}, { bound: underLoadMs });
    expect({ verdict, reason, violations }).toEqual({ verdict: 'holds', reason: undefined, violations: [] });
  },
);
