import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { termsOf } from './terms.ts';

/** The search entry of a plant. Plants never change, so their entries do not either; only a reindex recreates them. */
export type SearchEntry = {
  /** The plant's id. */
  _id: bigint;
  name: string;
  tag?: string;
  created: Date;
  /** When this entry was made, by the worker's clock. */
  indexed: Date;
  /** Everything the plant is found by. */
  terms: string[];
};

export function searchEntry(plant: PlantDocument, indexed: Date): SearchEntry {
  const { _id, name, tag, created } = plant;
  return { _id, name, ...(tag !== undefined && { tag }), created, indexed, terms: termsOf(plant) };
}
