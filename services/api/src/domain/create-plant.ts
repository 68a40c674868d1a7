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
  const { joinCommit, readTogether, recentIds } = deps;
  const inCommit = new Map<bigint, Promise<Outcome>>();

  return async (creation) => {
    const { id } = creation.plant;

    // One at a time: of many retries of one id each would wait for a commit of its own. The others share what became
    // of the first: it is stored, and a read tells them what that means for them; or nobody knows, or nothing was sent.
    const first = inCommit.get(id);
    if (first !== undefined) {
      const outcome = await first;
      if (!isStored(outcome)) return outcome;
    }

    if (recentIds.has(id)) {
      const stored = await readTogether(creation);
      if (stored === 'unreadable') return 'unknown';
      const resolved = stored === 'absent' ? 'absent' : resolveOutcome(creation, stored);
      if (resolved !== 'absent') return resolved;
    }

    const joined = joinCommit(creation);
    inCommit.set(id, joined);
    const outcome = await joined;
    if (inCommit.get(id) === joined) inCommit.delete(id);
    if (isStored(outcome)) recentIds.add(id);
    return outcome;
  };
}

/** Whether a plant stands under the id, whosever it is. */
function isStored(outcome: Outcome): boolean {
  return outcome !== 'not-stored' && outcome !== 'unknown';
}
