import { type Creation, type Outcome, sameContent, sameSubject } from './creation.ts';
import type { Stored } from './plant-store.ts';

/** The outcome of a creation according to a majority read. */
export type ResolvedOutcome = Exclude<Outcome, 'not-stored' | 'unknown'> | 'absent';

/**
 * Resolves the outcome of a creation whose insert was not acknowledged, from what a majority read found under its id.
 * `commit` is the commit in which the creation was sent; no id occurs twice in one commit, so (commit, id) identifies
 * one operation. The first rule that applies decides:
 *
 * 1. nothing found: not stored as far as a majority knows;
 * 2. a document that is no plant: the id is taken, and the answer says nothing more;
 * 3. a plant of this commit: our own insert stored it, whatever the driver reported;
 * 4. another subject's plant: the id is taken, and the answer says nothing more;
 * 5. same subject and key: a retry of the same operation, or the key was reused for other content;
 * 6. same subject, another key or none: the id is taken; the answer says whether the content is identical.
 */
export function resolveOutcome(
  creation: Creation,
  stored: Stored | undefined,
  commit?: string,
): ResolvedOutcome {
  if (stored === undefined) return 'absent';
  if (stored === 'foreign') return 'exists';
  if (stored.commit === commit) return 'created';
  if (!sameSubject(creation.principal, stored.principal)) return 'exists';

  const identical = sameContent(creation.plant, stored.plant);
  if (creation.keyHash !== undefined && creation.keyHash === stored.keyHash) {
    return identical ? 'replayed' : 'key-reused';
  }
  return identical ? 'exists-identical' : 'exists';
}
