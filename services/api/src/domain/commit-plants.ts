import type { Creation, InsertReport, Outcome, PlantStore } from './create-plant.ts';
import { settle } from './idempotency.ts';

/** An insert that has said nothing for so long is taken for lost; its write may still land (settled by reading). */
const INSERT_MS_MAX = 1_500;
/** Below this there is no point in another round trip. */
const ROUND_TRIP_MS_MIN = 50;
/** The first send and one identical resend. */
const SENDS_MAX = 2;

export type CommitDeps = {
  store: PlantStore;
  newCommit: () => string;
  /** Rings for the worker. Never awaited, never fails: the marks are the outbox, the relay rings again. */
  announce: (commit: string, plants: number, traceparent: string | undefined) => void;
  now: () => number;
};

/**
 * Stores a group of plants in one insert and decides each one's outcome within the group's earliest deadline.
 * No id stands twice in the group. What the insert did not acknowledge is read back by majority and settled; what is
 * absent is sent once more, identically, under the same commit.
 */
export async function commitPlants(deps: CommitDeps, group: readonly Creation[]): Promise<Outcome[]> {
  const commit = deps.newCommit();
  const deadline = group.reduce(
    (earliest, { deadline }) => Math.min(earliest, deadline),
    Number.POSITIVE_INFINITY,
  );
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

    const unacknowledged = open.filter(({ plant }) => !acknowledged(report, plant.id));
    for (const { plant } of open) if (acknowledged(report, plant.id)) outcomes.set(plant.id, 'created');
    open = await settleByReading(unacknowledged);
  }

  const fallback: Outcome = everSent ? 'unknown' : 'not-stored';
  const result = group.map(({ plant }) => outcomes.get(plant.id) ?? fallback);
  if (everSent) {
    const stored = result.filter((outcome) => outcome === 'created' || outcome === 'unknown').length;
    if (stored > 0)
      deps.announce(commit, stored, group.find((creation) => creation.traceparent)?.traceparent);
  }
  return result;

  /** Settles what a majority read can settle; answers what it found absent. What cannot be read stays unknown. */
  async function settleByReading(creations: readonly Creation[]): Promise<Creation[]> {
    if (creations.length === 0 || remaining() <= 0) return [];
    const found = await deps.store.read(
      creations.map(({ plant }) => plant.id),
      remaining() / 2,
    );
    if (found === undefined) return [];
    return creations.filter((creation) => {
      const settlement = settle(creation, found.get(creation.plant.id), commit);
      if (settlement !== 'absent') outcomes.set(creation.plant.id, settlement);
      return settlement === 'absent';
    });
  }
}

function acknowledged(report: InsertReport, id: bigint): boolean {
  return report.sent && report.occupied !== 'unknown' && !report.occupied.has(id);
}
