import type { Creation, Outcome } from './creation.ts';
import type { Reading } from './group-commit.ts';
import type { RecentIds } from './recent-ids.ts';
import { resolveOutcome } from './resolve-outcome.ts';

export type CreatePlant = (creation: Creation) => Promise<Outcome>;

/**
 * Creates one plant: it joins the next commit. Creations of an id that is taken, or about to be, are kept out of commits
 * and resolved by a read: one duplicate key makes mongod redo a whole insert document by document, and of many retries of
 * one id each would wait for a commit of its own. An id that was stored and is gone (a failover rolled it back) goes the
 * ordinary way.
 */
export function createPlant(deps: {
  joinCommit: CreatePlant;
  readTogether: (creation: Creation) => Promise<Reading>;
  recentIds: RecentIds;
}): CreatePlant {
  const { joinCommit, readTogether, recentIds } = deps;

  return async (creation) => {
    const { id } = creation.plant;
    const known = recentIds.get(id);
    if (known !== undefined) {
      // Where nothing was sent, or nobody knows what became of it, that is so for this one too.
      const earlier = known === 'stored' ? known : await known;
      if (earlier === 'not-stored' || earlier === 'unknown') return earlier;
      const stored = await readTogether(creation);
      if (stored === 'unreadable') return 'unknown';
      const resolved = stored === 'absent' ? 'absent' : resolveOutcome(creation, stored);
      if (resolved !== 'absent') return resolved;
    }

    const joined = joinCommit(creation);
    recentIds.set(id, joined);
    const outcome = await joined;
    if (outcome === 'not-stored' || outcome === 'unknown') recentIds.forget(id);
    else recentIds.set(id, 'stored');
    return outcome;
  };
}
