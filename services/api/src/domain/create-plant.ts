import type { Creation, Outcome } from './creation.ts';
import type { Reading } from './group-commit.ts';
import type { RecentIds } from './recent-ids.ts';
import { resolveOutcome } from './resolve-outcome.ts';

export type CreatePlant = (creation: Creation) => Promise<Outcome>;

/**
 * Creates one plant: it joins the next commit. Ids known to be taken are resolved by a read and kept out of commits,
 * since one duplicate key makes mongod redo a whole insert document by document. An id that was seen and is gone (a
 * failover rolled it back) goes the ordinary way.
 */
export function createPlant(deps: {
  joinCommit: CreatePlant;
  readTogether: (creation: Creation) => Promise<Reading>;
  recentIds: RecentIds;
}): CreatePlant {
  return async (creation) => {
    const { id } = creation.plant;
    if (deps.recentIds.has(id)) {
      const stored = await deps.readTogether(creation);
      if (stored === 'unreadable') return 'unknown';
      const resolved = stored === 'absent' ? 'absent' : resolveOutcome(creation, stored);
      if (resolved !== 'absent') return resolved;
    }
    const outcome = await deps.joinCommit(creation);
    if (outcome !== 'not-stored' && outcome !== 'unknown') deps.recentIds.add(id);
    return outcome;
  };
}
