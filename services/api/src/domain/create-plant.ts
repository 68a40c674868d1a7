import { type Settlement, settle } from './idempotency.ts';
import type { Plant } from './plant.ts';
import type { Principal } from './principal.ts';

/** One request to create a plant, with everything that is stored beside it. */
export type Creation = {
  plant: Plant;
  principal: Principal;
  origin: { address: string; request: string };
  /** Hash of the Idempotency-Key, hexadecimal. */
  keyHash?: string;
  /** W3C trace context, passed on to the worker. */
  traceparent?: string;
  /** When the answer is due, on the clock of `performance.now()`. */
  deadline: number;
};

/** What the caller is told. `not-stored` is certain; `unknown` is not. */
export type Outcome = Exclude<Settlement, 'absent'> | 'not-stored' | 'unknown';

/** A plant as a majority of the database holds it. */
export type StoredPlant = { plant: Plant; principal: Principal; commit: string; keyHash?: string };

/** How an insert of a commit ended, plant by plant where the database said so. */
export type InsertReport = InsertEnd & {
  /** What went wrong, for the operator. */
  reason?: string;
};

type InsertEnd =
  /** Nothing left this process. */
  | { sent: false }
  /** Acknowledged by a majority, but for the ids that something already stored occupies. */
  | { sent: true; occupied: ReadonlySet<bigint> }
  /** Sent, and no trustworthy word about any of the plants. */
  | { sent: true; occupied: 'unknown' };

/** The database, as a commit needs it. Both calls settle within `budgetMs` and never throw. */
export interface PlantStore {
  /** Stores the plants and their marks in one insert, acknowledged by a journaled majority. */
  insert(commit: string, creations: readonly Creation[], budgetMs: number): Promise<InsertReport>;
  /** What a majority holds under these ids; `undefined` when it cannot be read. */
  read(ids: readonly bigint[], budgetMs: number): Promise<ReadonlyMap<bigint, StoredPlant> | undefined>;
}

/** Ids that this replica has seen stored of late. May forget, never lies about having seen. */
export interface RecentIds {
  has(id: bigint): boolean;
  add(id: bigint): void;
}

export type CreatePlant = (creation: Creation) => Promise<Outcome>;

/**
 * Creates one plant. Ids known to be taken are settled by a read and kept out of the group, since one duplicate key
 * makes mongod redo a whole insert document by document. An id that was seen and is gone (a failover rolled it back)
 * goes the ordinary way.
 */
export function createPlant(deps: {
  joinCommit: CreatePlant;
  readTogether: (creation: Creation) => Promise<StoredPlant | 'absent' | 'unreadable'>;
  recentIds: RecentIds;
}): CreatePlant {
  return async (creation) => {
    const { id } = creation.plant;
    if (deps.recentIds.has(id)) {
      const stored = await deps.readTogether(creation);
      if (stored === 'unreadable') return 'unknown';
      const settlement = stored === 'absent' ? 'absent' : settle(creation, stored);
      if (settlement !== 'absent') return settlement;
    }
    const outcome = await deps.joinCommit(creation);
    if (outcome !== 'not-stored' && outcome !== 'unknown') deps.recentIds.add(id);
    return outcome;
  };
}
