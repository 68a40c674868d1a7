import type { Machine } from './machine.ts';
import type { Round } from './round.ts';
import type { Extent, LaneName, Mode, SeriesName } from './series.ts';

export type Ceiling = { plantsPerSecond: number; mongodUsPerPlant: number };

export type Memory = { plants: number; api: number; worker: number };

/** Everything that one run measured: what is kept as JSON, and all that the report is made from. */
export type Results = {
  date: string;
  /** The commit that was measured; with "+" when the working tree held changes. */
  commit: string;
  mode: Mode;
  minutes: number;
  machine: Machine;
  extent: Extent;
  rounds: Record<SeriesName, Partial<Record<LaneName, Round[]>>>;
  ceiling: Ceiling[];
  memory?: { before: Memory; after: Memory };
  /** Rounds that did not count and were repeated, with the reason. */
  voidRounds: string[];
};
