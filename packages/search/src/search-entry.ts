import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { foldedName, words } from './folding.ts';

/** What a plant is searched by. It never changes, as the plant does not. */
export type SearchEntry = {
  /** The plant's id. */
  _id: bigint;
  name: string;
  tag?: string;
  /** The beginning of the name without case and accents. */
  folded: string;
  /** The words of name and tag without case and accents. */
  words: string[];
  created: Date;
};

export function searchEntry({ _id, name, tag, created }: PlantDocument): SearchEntry {
  return {
    _id,
    name,
    ...(tag !== undefined && { tag }),
    folded: foldedName(name),
    words: words(name, tag),
    created,
  };
}
