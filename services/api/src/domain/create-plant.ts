import type { Creation, Outcome } from './creation.ts';
import type { Reading } from './group-commit.ts';
import type { RecentIds } from './recent-ids.ts';
import { resolveOutcome } from './resolve-outcome.ts';

export type CreatePlant = (creation: Creation) => Promise<Outcome>;

/**
 * Creates one plant by joining the next commit. If this replica knows that the id is taken, or is being stored, the
 * creation joins no commit and a read resolves its outcome, for two reasons: one duplicate key makes mongod repeat the
 * whole insert document by document, and each of many retries of one id would wait for a commit of its own. If the read
 * finds no plant under the id (a failover rolled it back), the creation joins a commit after all.
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
      // If the earlier creation was not stored or its outcome is unknown, this one gets the same outcome.
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
