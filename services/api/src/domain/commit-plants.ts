import type { Creation, Outcome } from './creation.ts';
import type { Commit, PlantStore } from './plant-store.ts';
import { resolveOutcome } from './resolve-outcome.ts';

/** An insert without an answer for so long is taken for lost. It may still arrive: its outcome is resolved by reading. */
const INSERT_MS_MAX = 1_500;
/** Below this there is no point in another round trip. */
const ROUND_TRIP_MS_MIN = 50;
/** The first send and one identical resend. */
const SENDS_MAX = 2;

export type CommitDeps = {
  store: PlantStore;
  newCommit: () => Commit;
  /** Wakes the workers. Never awaited, never fails: pending flags are the outbox, the relay publishes what was missed. */
  publish: (commit: string, plants: number, traceparent: string | undefined) => void;
  now: () => number;
};

/**
 * Stores a group of plants in one insert and decides each one's outcome within the group's earliest deadline.
 * No id stands twice in the group. What the insert did not acknowledge is read back by majority and resolved; what is
 * absent is sent once more, identically, under the same commit.
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
      // A connection that broke is soon replaced; a primary that is missing has been waited for already.
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

  /** Resolves what a majority read can; answers what it found absent. What cannot be read stays unknown. */
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

  /** With what is or may be stored of it. */
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
