import { hash } from 'node:crypto';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { fold, foldedName, words } from './folding.ts';

/**
 * What a plant is found by, each with a letter for its kind, so that one index holds them all: an index entry costs
 * the database the same in any index, but each index costs something more.
 */
export const terms = {
  word: (folded: string) => `w:${folded}`,
  name: (folded: string) => `n:${folded}`,
  tag: (tag: string) => `t:${bounded(fold(tag))}`,
} as const;

/** A longer exact text is cut and completed by its hash, so that no plant needs an index key of 60 KB. */
const TEXT_LENGTH_MAX = 256;
const START_LENGTH = 190;

export function termsOf({ name, tag }: Pick<PlantDocument, 'name' | 'tag'>): string[] {
  return [
    ...words(name, tag).map(terms.word),
    terms.name(foldedName(name)),
    ...(tag === undefined ? [] : [terms.tag(tag)]),
  ];
}

function bounded(text: string): string {
  if (text.length <= TEXT_LENGTH_MAX) return text;
  return `${text.slice(0, START_LENGTH).toWellFormed()}#${hash('sha256', text, 'hex')}`;
}
