import type { PendingCommit } from '@plant-store/contracts/creation-job';

/** How long a commit is left alone after a publication, at most. */
const PAUSE_MS_MAX = 30_000;

/** A commit that has stayed pending for too long, and when it had. */
export type DueCommit = PendingCommit & { dueAt: number };

type Remembered = { since: number; dueAt: number; publications: number; pass: number };

/**
 * Which commits have been seen pending since when, by this process' monotonic clock: their own times come from the
 * clocks of other machines. Between publications a commit is left alone for longer each time.
 * @param commitsMax bounds the memory; commits beyond it are remembered once others are gone
 */
export function createPublicationMemory(ageMs: number, commitsMax: number) {
  const remembered = new Map<string, Remembered>();
  let pass = 0;

  return {
    /** Takes note of pending commits; answers those that have stayed for too long since they were seen or published. */
    saw(commits: readonly PendingCommit[], now: number): DueCommit[] {
      const due: DueCommit[] = [];
      for (const { commit, plants } of commits) {
        const known = remembered.get(commit);
        if (known !== undefined) {
          known.pass = pass;
          if (known.dueAt <= now) due.push({ commit, plants, dueAt: known.dueAt });
        } else if (remembered.size < commitsMax) {
          remembered.set(commit, { since: now, dueAt: now + ageMs, publications: 0, pass });
        }
      }
      return due;
    },

    anyDue(now: number): boolean {
      for (const { dueAt } of remembered.values()) if (dueAt <= now) return true;
      return false;
    },

    published(commits: readonly PendingCommit[], now: number): void {
      for (const { commit } of commits) {
        const known = remembered.get(commit);
        if (known === undefined) continue;
        known.publications++;
        known.dueAt = now + Math.min(ageMs * 2 ** known.publications, PAUSE_MS_MAX);
      }
    },

    /** All pending commits were seen once through: what was not among them is no longer pending. */
    passed(): void {
      for (const [commit, known] of remembered) if (known.pass !== pass) remembered.delete(commit);
      pass++;
    },

    /** For how long the longest-seen commit has been pending; 0 when none is. */
    oldestMs(now: number): number {
      let oldest = now;
      for (const { since } of remembered.values()) oldest = Math.min(oldest, since);
      return now - oldest;
    },
  };
}
