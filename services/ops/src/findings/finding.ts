import type { SystemStatus } from '../status/status.ts';

/** How serious: less than promised, or not doing its job. */
type FindingLevel = 'warn' | 'bad';

/** A fault that one rule finds in one reading. */
export type Finding = {
  /** What it concerns (such as a worker), where a rule may have several findings. */
  subject?: string;
  level: FindingLevel;
  headline: string;
  cause: string;
  affected: string;
  action: string;
  /** How long it has lasted, where the reading shows it. */
  lastedMs?: number;
};

export type Rule = {
  /** The name of its findings, of their section in docs/runbook.md and of their metric. */
  id: string;
  /** A finding is shown once it has lasted this long, so that a restart alone shows none. */
  holdMs?: number;
  /**
   * For a rule that blames a lack of progress: whether progress is possible. A finding is shown once that has been so
   * for `ms`, and then counts from there at the earliest.
   */
  needs?: { possible: (status: SystemStatus) => boolean; ms: number };
  find: (status: SystemStatus) => readonly Finding[];
};
