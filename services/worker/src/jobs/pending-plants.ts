import type { PlantDocument } from '@plant-store/contracts/plant-document';

/** The outbox inside the plants: those that are not yet known to be indexed and audited. */
export type PendingPlants = {
  /** What a majority has of the commits' pending documents, as they are stored, in pages of bounded size. */
  pages: (commits: readonly string[], plantsMax: number) => AsyncIterable<readonly unknown[]>;
  /** Clears the pending flags of these very plants, and of no other member of their commits. */
  clear: (plants: readonly PlantDocument[]) => Promise<void>;
};

/** A plant that cannot be processed, whatever is tried: it stays pending, where operators see it. */
export type PoisonPlant = {
  plant: string;
  commit: string | undefined;
  request: string | undefined;
  reason: string;
};
