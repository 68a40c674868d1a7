import type { Operation } from '../history/history.ts';

/** A promise that was broken: an invariant of docs/invariants.md by name, or `row` for what the row expects besides. */
export type Violation = {
  invariant: string;
  /** What was found, in one sentence. */
  found: string;
  /** All operations that have to do with it, with their attempts. */
  history: readonly Operation[];
};
