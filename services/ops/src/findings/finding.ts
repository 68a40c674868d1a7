import type { SystemStatus } from '../status/status.ts';

/** How serious: less than promised, or not doing its job. */
type FindingLevel = 'warn' | 'bad';

/** Something that is wrong, as one rule sees it in one reading. */
export type Finding = {
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

export type Rule = {
  /** Names its findings, their section of docs/runbook.md and their metric. */
  id: string;
  /** A finding must have lasted this long to be shown: a restart alone is none. */
  holdMs?: number;
  find: (status: SystemStatus) => readonly Finding[];
};
