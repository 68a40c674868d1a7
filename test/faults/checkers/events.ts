import { readPublicKeys } from '@plant-store/audit/ledger/anchor-keys';
import { faultLine } from '@plant-store/audit/verification/fault';
import { verifyLog } from '../../../services/ops/src/audit/verify-log.ts';
import type { History } from '../history/history.ts';
import type { System } from '../system/system.ts';
import { jobCount, type State } from './state.ts';
import type { Violation } from './violation.ts';

/** The first few of many are enough to see what happened. */
const SHOWN_MAX = 20;

/**
 * E1 to E3 and E6: every stored plant is indexed and audited once, nothing else is, and nothing is left to do. That Redis
 * was deleted (E4) or a job was run twice (E5) must make no difference to this.
 * @param poison plants that cannot be processed
 */
export function checkEvents(
  history: History,
  { plants, index, audited, jobs, failed }: State,
  poison: ReadonlySet<bigint>,
): Violation[] {
  const violations: Violation[] = [];
  const add = (invariant: string, id: bigint, found: string) => {
    if (violations.length < SHOWN_MAX)
      violations.push({ invariant, found: `plant ${id} ${found}`, history: history.of(id) });
  };
  for (const [id, plant] of plants) {
    if (poison.has(id)) {
      if (plant.pending !== true) add('E6', id, 'is poison and is not pending any more');
      continue;
    }
    const entry = index.get(id);
    if (audited.get(id) !== 1) add('E1', id, `is audited ${audited.get(id) ?? 0} times`);
    if (entry === undefined) add('E1', id, 'is not indexed');
    else if (entry.name !== plant.name || entry.tag !== plant.tag) add('E2', id, 'is indexed otherwise');
    if (plant.pending !== undefined) add('E3', id, 'is still pending');
  }
  for (const id of index.keys()) if (!plants.has(id)) add('E2', id, 'is indexed and not stored');
  for (const id of audited.keys()) if (!plants.has(id)) add('E2', id, 'is audited and not stored');
  violations.push(...checkJobs(jobs, failed, plants, poison));
  return violations;
}

/** One failed job for each commit with a poison plant, at most; it may just be tried again. */
function checkJobs(
  jobs: State['jobs'],
  failed: State['failed'],
  plants: State['plants'],
  poison: ReadonlySet<bigint>,
): Violation[] {
  const commits = new Set([...poison].map((id) => String(plants.get(id)?.commit)));
  const count = jobCount(jobs);
  if (count <= commits.size) return [];
  const states = JSON.stringify({ ...jobs, reasons: failed.slice(0, SHOWN_MAX).map(({ reason }) => reason) });
  const invariant = poison.size > 0 ? 'E6' : 'E3';
  const found = `${count} jobs are left, where ${commits.size} commits hold poison: ${states}`;
  return [{ invariant, found, history: [] }];
}

/** The audit log verifies as an operator does it: chains, anchors, and against the plants in both directions. */
export async function checkLedger(
  { db, anchorKey }: System,
  poison: ReadonlySet<bigint>,
): Promise<Violation[]> {
  const { faults } = await verifyLog(db, { keys: readPublicKeys(anchorKey), onProgress: () => {} });
  return faults
    .filter(({ plant }) => plant === undefined || !poison.has(plant))
    .slice(0, SHOWN_MAX)
    .map((fault) => ({ invariant: 'E1', found: `audit verify: ${faultLine(fault)}`, history: [] }));
}
