import type { PendingCommit } from '@plant-store/contracts/creation-job';

/** The commits that have pending plants, in the order of their ids. */
export type PendingCommits = {
  /** A page of bounded size, from the first commit after the one given. */
  page: (after: string | undefined) => Promise<PendingPage>;
};

type PendingPage = {
  /** Each commit with the number of its plants in this page. */
  commits: readonly PendingCommit[];
  /** Where the next page begins; `undefined` when this was the last. */
  next: string | undefined;
};
