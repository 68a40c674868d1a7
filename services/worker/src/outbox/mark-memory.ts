/** How long a commit is left alone after each ring, at most. */
const RING_PAUSE_MS_MAX = 30_000;

export type DueCommit = { commit: string; plants: number; rings: number };

type Remembered = { since: number; nextRing: number; rings: number; pass: number };

/**
 * Which commits have been seen pending since when, by this process' monotonic clock: their own times come from the
 * clocks of other machines. Between rings a commit is left alone for longer each time.
 * @param commitsMax bounds the memory; commits beyond it are remembered once others are gone
 */
export function createMarkMemory(ageMs: number, commitsMax: number) {
  const remembered = new Map<string, Remembered>();
  let pass = 0;

  return {
    /** Takes note of pending commits; answers those that have stayed for too long since they were seen or rung for. */
    saw(commits: ReadonlyMap<string, number>, now: number): DueCommit[] {
      const due: DueCommit[] = [];
      for (const [commit, plants] of commits) {
        const mark = remembered.get(commit);
        if (mark !== undefined) {
          mark.pass = pass;
          if (mark.nextRing <= now) due.push({ commit, plants, rings: mark.rings });
        } else if (remembered.size < commitsMax) {
          remembered.set(commit, { since: now, nextRing: now + ageMs, rings: 0, pass });
        }
      }
      return due;
    },

    rang(commits: Iterable<string>, now: number): void {
      for (const commit of commits) {
        const mark = remembered.get(commit);
        if (mark === undefined) continue;
        mark.rings++;
        mark.nextRing = now + Math.min(ageMs * 2 ** mark.rings, RING_PAUSE_MS_MAX);
      }
    },

    /** All marks were seen once through: what was not among them is no longer pending. */
    passed(): void {
      for (const [commit, mark] of remembered) if (mark.pass !== pass) remembered.delete(commit);
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
