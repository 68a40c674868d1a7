import type { PendingCommit } from '@plant-store/contracts/creation-job';

/** The longest pause before a commit is published again. */
const PAUSE_MS_MAX = 30_000;

/** A commit that has stayed pending for too long, and since when. */
export type DueCommit = PendingCommit & { dueAt: number };

type Remembered = { since: number; dueAt: number; publications: number; pass: number };

/**
 * Remembers since when each commit has been seen pending, by this process' monotonic clock: the times in commit ids
 * come from the clocks of other machines. The pause between publications of a commit grows each time.
 * @param commitsMax bounds the memory; commits beyond it are remembered once others are gone
 */
export function createPublicationMemory(ageMs: number, commitsMax: number) {
  const remembered = new Map<string, Remembered>();
  let pass = 0;

  return {
    /** Remembers pending commits; returns those that are still pending too long after they were seen or published. */
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

    /** A sweep has read all pending commits: those it did not see are no longer pending, and are forgotten. */
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
