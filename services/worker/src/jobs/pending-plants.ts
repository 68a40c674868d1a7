import type { PlantDocument } from '@plant-store/contracts/plant-document';

/** The outbox: the plants whose pending flag is set, since they may not be indexed and audited yet. */
export type PendingPlants = {
  /** The commits' pending documents that a majority has, as stored, in pages of bounded size. */
  pages: (commits: readonly string[], plantsMax: number) => AsyncIterable<readonly unknown[]>;
  /** Clears the pending flags of exactly these plants, not of others in the same commits. */
  clear: (plants: readonly PlantDocument[]) => Promise<void>;
};

/** The reason of a job that failed because of poison plants begins so. */
export const POISONED = 'cannot be processed and stay pending: ';

/** A plant that no retry can process: it stays pending, and operators see it. */
export type PoisonPlant = {
  plant: string;
  commit: string | undefined;
  request: string | undefined;
  reason: string;
};
