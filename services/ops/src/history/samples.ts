import { type Measured, SERIES } from './plots.ts';
import { KEPT_MS } from './timeline.ts';

/** Readings are at least a second apart. */
const SAMPLES_MAX = 3_600;
/** More digits than anyone sees on a plot would be sent for nothing. */
const DIGITS = 4;

type Sample = { at: number; values: (number | null)[] };

/** Columns, as the plots take them: one of times (ms since 1970), and one of values for each of SERIES. */
export type Samples = { at: number[]; values: (number | null)[][] };

export type RecentSamples = {
  add: (measured: Measured) => void;
  /** Of SERIES, at the newest sample; empty before the first. */
  newest: () => readonly (number | null)[];
  /** All samples later than a time. */
  after: (time: number) => Samples;
};

/** The samples of the last hour, in memory: usually 1,800, one every 2 s, of 22 values each. */
export function createRecentSamples(): RecentSamples {
  let samples: Sample[] = [];
  return {
    add(measured) {
      const at = measured.status.at.getTime();
      // Where the clock was set back, what lies in its future is dropped: plots need ascending times.
      samples = samples.filter((sample) => sample.at > at - KEPT_MS && sample.at < at).slice(1 - SAMPLES_MAX);
      samples.push({ at, values: SERIES.map(({ read }) => rounded(read(measured))) });
    },
    newest: () => samples.at(-1)?.values ?? [],
    after(time) {
      const later = samples.filter(({ at }) => at > time);
      return {
        at: later.map(({ at }) => at),
        values: SERIES.map((_, index) => later.map(({ values }) => values[index] ?? null)),
      };
    },
  };
}

function rounded(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Number(value.toPrecision(DIGITS));
}
