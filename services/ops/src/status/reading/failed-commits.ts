/** The relay retries a failed job within 10 minutes; while it is retried it is not among the failed ones. */
const REMEMBERED_MS = 15 * 60_000;
const COMMITS_MAX = 1_000;

export type FailedCommits = {
  /** Commits whose job failed lately, the newest last. */
  all: () => string[];
  seen: (commits: readonly string[]) => void;
};

/** Remembers which commits fail, so that a job that is being retried does not look repaired. */
export function rememberFailedCommits(now: () => number): FailedCommits {
  const seenAt = new Map<string, number>();
  return {
    all: () => [...seenAt.keys()],
    seen(commits) {
      for (const commit of commits) {
        seenAt.delete(commit);
        seenAt.set(commit, now());
      }
      for (const [commit, at] of seenAt) {
        if (now() - at > REMEMBERED_MS || seenAt.size > COMMITS_MAX) seenAt.delete(commit);
      }
    },
  };
}
