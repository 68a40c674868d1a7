import type { Creation, Plant, Principal } from './creation.ts';

/** The database, as a commit needs it. Both calls resolve within `budgetMs` and never throw. */
export interface PlantStore {
  /** Stores the plants with their pending flags in one insert, acknowledged by a journaled majority. */
  insert(commit: Commit, creations: readonly Creation[], budgetMs: number): Promise<InsertReport>;
  /** What a majority holds under these ids; `undefined` when it cannot be read. */
  read(ids: readonly bigint[], budgetMs: number): Promise<ReadonlyMap<bigint, StoredPlant> | undefined>;
}

/** What the plants of one commit share. Sent again, they are the same documents. */
export type Commit = {
  /** 24 hexadecimal digits. */
  id: string;
  created: Date;
};

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
