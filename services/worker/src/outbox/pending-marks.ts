/** The marks of pending plants, in the order of their commits. */
export type PendingMarks = {
  /** A page of bounded size, from the first commit after the one given. */
  page: (after: string | undefined) => Promise<MarkPage>;
};

type MarkPage = {
  /** Commits with how many of their plants the page holds. */
  commits: ReadonlyMap<string, number>;
  plants: number;
  /** Where the next page begins; `undefined` when this was the last. */
  next: string | undefined;
};
