import type { Creation, Plant, Principal } from './creation.ts';

/** The database operations that creating plants needs. Both calls resolve within `budgetMs` and never throw. */
export interface PlantStore {
  /** Stores the plants with their pending flags in one insert, acknowledged by a journaled majority. */
  insert(commit: Commit, creations: readonly Creation[], budgetMs: number): Promise<InsertReport>;
  /** What a majority holds under these ids; `undefined` when it cannot be read. */
  read(ids: readonly bigint[], budgetMs: number): Promise<ReadonlyMap<bigint, Stored> | undefined>;
}

/** What the plants of one commit share. A resend uses the same values, so it sends identical documents. */
export type Commit = {
  /** 24 hexadecimal digits. */
  id: string;
  created: Date;
};

/** What a majority holds under an id. `foreign`: a document that is no plant. It occupies the id all the same. */
export type Stored = StoredPlant | 'foreign';

/** A plant as a majority of the database holds it. */
export type StoredPlant = { plant: Plant; principal: Principal; commit: string; keyHash?: string };

/** How the insert of a commit ended, with the result of each plant where the database reported it. */
export type InsertReport = InsertEnd & {
  /** What went wrong, for the operator. */
  reason?: string;
  /** False when the database works and refused what was sent; else a failure is the database's. */
  databaseAway?: boolean;
};

type InsertEnd =
  /** Nothing left this process. */
  | { sent: false }
  /** A majority acknowledged all plants except those whose ids were already taken (`occupied`). */
  | { sent: true; occupied: ReadonlySet<bigint> }
  /** Sent, but the result is unknown for every plant. */
  | { sent: true; occupied: 'unknown' };
