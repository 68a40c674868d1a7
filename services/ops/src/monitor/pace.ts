import type { SystemStatus } from '../status/status.ts';

/** Rates are averages over this time: over a shorter one they fluctuate, over a longer one they lag. */
const WINDOW_MS = 30_000;
/** Rates that differ by less are the same. */
const SAME_PER_S = 0.5;

export type Pace = {
  arrivedPerS: number;
  processedPerS: number;
  /** When the backlog will be gone at these rates; undefined when it does not shrink. */
  clearInMs: number | undefined;
  /** By how much the backlog grows; 0 when it does not. */
  growsPerS: number;
};

type Sample = { at: number; plants: number; searchable: number };

/** How fast plants arrive and are processed. It must be given every reading; undefined until it has two. */
export function createPace(): (status: SystemStatus) => Pace | undefined {
  let samples: Sample[] = [];
  return ({ at, database }) => {
    if (database === undefined) {
      samples = [];
      return undefined;
    }
    const { plants, searchable, backlog } = database;
    const latest = { at: at.getTime(), plants, searchable };
    samples = [...samples.filter((sample) => latest.at - sample.at <= WINDOW_MS), latest];
    const [first] = samples as [Sample];
    const seconds = (latest.at - first.at) / 1_000;
    if (seconds < 1) return undefined;
    const arrivedPerS = Math.max(0, latest.plants - first.plants) / seconds;
    const processedPerS = Math.max(0, latest.searchable - first.searchable) / seconds;
    const shrinksPerS = processedPerS - arrivedPerS;
    return {
      arrivedPerS,
      processedPerS,
      clearInMs:
        backlog.plants > 0 && shrinksPerS > SAME_PER_S ? (backlog.plants / shrinksPerS) * 1_000 : undefined,
      growsPerS: shrinksPerS < -SAME_PER_S ? -shrinksPerS : 0,
    };
  };
}
