import { type Creation, type Outcome, sameContent, sameSubject } from './creation.ts';
import type { StoredPlant } from './plant-store.ts';

/** What a majority read tells about a creation. */
export type ResolvedOutcome = Exclude<Outcome, 'not-stored' | 'unknown'> | 'absent';

/**
 * Decides every creation whose insert did not simply succeed, from what a majority read found under its id.
 * `commit` is the commit the creation was sent in; within one commit no id stands twice, so (commit, id) names one
 * operation. The rules, in the order in which they prove something:
 *
 * 1. nothing found: not stored as far as a majority knows;
 * 2. a plant of this commit: our own write arrived, whatever the driver said;
 * 3. another subject's plant: tells nothing but that the id is taken;
 * 4. same subject and key: a retry of the same operation, or the key reused for other content;
 * 5. same subject: the client repeats itself without proof, or contradicts itself.
 */
export function resolveOutcome(
  creation: Creation,
  stored: StoredPlant | undefined,
  commit?: string,
): ResolvedOutcome {
  if (stored === undefined) return 'absent';
  if (stored.commit === commit) return 'created';
  if (!sameSubject(creation.principal, stored.principal)) return 'exists';

  const identical = sameContent(creation.plant, stored.plant);
  if (creation.keyHash !== undefined && creation.keyHash === stored.keyHash) {
    return identical ? 'replayed' : 'key-reused';
  }
  return identical ? 'exists-identical' : 'exists';
}
