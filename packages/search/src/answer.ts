import type { SearchEntry } from './search-entry.ts';

export type FoundPlant = { id: bigint; name: string; tag?: string; created: Date; indexed: Date };

export type Answer<Place = string> = {
  plants: FoundPlant[];
  /** Ask again with it for what follows; absent at the end. */
  next?: Place;
  /** Whether the time ended before the page was full: `next` goes on from there. */
  timedOut: boolean;
};

/** The database ended an operation at its timeout. */
export class SearchTimeout extends Error {}

export function foundPlant({ _id, name, tag, created, indexed }: SearchEntry): FoundPlant {
  return { id: _id, name, ...(tag !== undefined && { tag }), created, indexed };
}
