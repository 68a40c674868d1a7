import type { Creation, Outcome } from './creation.ts';
import type { Commit, PlantStore } from './plant-store.ts';
import { resolveOutcome } from './resolve-outcome.ts';

/** Timeout of an insert. It may still be stored after that, so a read resolves its outcome. */
const INSERT_MS_MAX = 1_500;
/** With less time left than this, nothing more is sent. */
const ROUND_TRIP_MS_MIN = 50;
/** The first send and one identical resend. */
const SENDS_MAX = 2;

export type CommitDeps = {
  store: PlantStore;
  newCommit: () => Commit;
  /** Publishes the commit to the workers. Never awaited, never fails: the relay publishes commits that were missed. */
  publish: (commit: string, plants: number, traceparent: string | undefined) => void;
  now: () => number;
};

/**
 * Stores a group of plants in one insert and returns the outcome of each within the group's earliest deadline. No id
 * occurs twice in the group. Plants that the insert did not acknowledge are looked up by a majority read, which
 * resolves their outcome. Plants that are absent are sent once more, as identical documents of the same commit.
 */
export async function commitPlants(deps: CommitDeps, group: readonly Creation[]): Promise<Outcome[]> {
  const commit = deps.newCommit();
  const deadline = earliestDeadline(group);
  const remaining = () => deadline - deps.now();
  const outcomes = new Map<bigint, Outcome>();

  let open: readonly Creation[] = group;
  let everSent = false;
  for (let sends = 0; sends < SENDS_MAX && open.length > 0 && remaining() > ROUND_TRIP_MS_MIN; sends++) {
    const report = await deps.store.insert(commit, open, Math.min(INSERT_MS_MAX, remaining() / 2));
    everSent ||= report.sent;
    if (!everSent) {
      // A quick failure is a broken connection, which is soon replaced: the insert is sent again. After a slow one the
      // driver has already waited for a primary: the group is given up.
      if (remaining() < 2 * INSERT_MS_MAX) break;
      continue;
    }

    const unacknowledged: Creation[] = [];
    for (const creation of open) {
      const { id } = creation.plant;
      if (report.sent && report.occupied !== 'unknown' && !report.occupied.has(id))
        outcomes.set(id, 'created');
      else unacknowledged.push(creation);
    }
    open = await resolveByReading(unacknowledged);
  }

  const fallback: Outcome = everSent ? 'unknown' : 'not-stored';
  const result = group.map(({ plant }) => outcomes.get(plant.id) ?? fallback);
  if (everSent) publishStored(result);
  return result;

  /** Resolves outcomes by a majority read and returns the absent plants. If the read fails, outcomes stay unknown. */
  async function resolveByReading(creations: readonly Creation[]): Promise<readonly Creation[]> {
    if (creations.length === 0 || remaining() <= 0) return [];
    const ids = creations.map(({ plant }) => plant.id);
    const found = await deps.store.read(ids, remaining() / 2);
    if (found === undefined) return [];
    return creations.filter((creation) => {
      const outcome = resolveOutcome(creation, found.get(creation.plant.id), commit.id);
      if (outcome !== 'absent') outcomes.set(creation.plant.id, outcome);
      return outcome === 'absent';
    });
  }

  /** Publishes the commit with the number of plants that are stored or may be. */
  function publishStored(result: readonly Outcome[]): void {
    const plants = result.filter((outcome) => outcome === 'created' || outcome === 'unknown').length;
    if (plants > 0)
      deps.publish(commit.id, plants, group.find(({ traceparent }) => traceparent)?.traceparent);
  }
}

function earliestDeadline(group: readonly Creation[]): number {
  let earliest = Number.POSITIVE_INFINITY;
  for (const { deadline } of group) if (deadline < earliest) earliest = deadline;
  return earliest;
}
