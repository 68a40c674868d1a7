import type { Creation, StoredPlant } from './create-plant.ts';
import { sameContent } from './plant.ts';
import { sameSubject } from './principal.ts';

export type Settlement = 'created' | 'replayed' | 'exists' | 'exists-identical' | 'key-reused' | 'absent';

/**
 * Decides every creation whose insert did not simply succeed, from what a majority read found under its id.
 * `commit` is the commit the creation was sent in; within one commit no id stands twice, so (commit, id) names one
 * operation. The rules, in the order in which they prove something:
 *
 * 1. nothing found: not stored as far as a majority knows;
 * 2. this commit's mark: our own write arrived, whatever the driver said;
 * 3. another subject's plant: tells nothing but that the id is taken;
 * 4. same subject and key: a retry of the same operation, or the key reused for other content;
 * 5. same subject: the client repeats itself without proof, or contradicts itself.
 */
export function settle(creation: Creation, stored: StoredPlant | undefined, commit?: string): Settlement {
  if (stored === undefined) return 'absent';
  if (stored.commit === commit) return 'created';
  if (!sameSubject(creation.principal, stored.principal)) return 'exists';

  const identical = sameContent(creation.plant, stored.plant);
  if (creation.keyHash !== undefined && creation.keyHash === stored.keyHash) {
    return identical ? 'replayed' : 'key-reused';
  }
  return identical ? 'exists-identical' : 'exists';
}
