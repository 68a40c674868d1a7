import type { SystemStatus } from '../status/status.ts';

/** How serious: less than promised, or not doing its job. */
type FindingLevel = 'warn' | 'bad';

/** Something that is wrong, as one rule sees it in one reading. */
export type Finding = {
  /** Of the rule, and of its section in docs/runbook.md. */
  id: string;
  /** What it is about, where a rule may find several. */
  subject?: string;
  level: FindingLevel;
  headline: string;
  cause: string;
  affected: string;
  action: string;
  /** How long it has lasted, where the reading tells. */
  lastedMs?: number;
};

/** A finding must have lasted this long to be shown: a restart alone is none. */
export type Rule = { holdMs?: number; find: (status: SystemStatus) => readonly Finding[] };
