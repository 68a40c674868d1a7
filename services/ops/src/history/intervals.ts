import type {
  ApiReport,
  Distribution,
  ProcessReport,
  WorkerReport,
} from '@plant-store/contracts/process-report';
import type { Seen } from '@plant-store/platform/redis/heartbeats';

/** A process reports every 2 s: one that has missed two reports is no longer counted. */
const REPORTING_MS = 6_000;
/** A process first seen within this time of its start is counted from its start, an older one from its next report. */
const YOUNG_MS = 10_000;

/** What one process did between two of its reports; `before` is absent when the first one was at its start. */
export type Interval<Report> = { before: Report | undefined; now: Report; seconds: number };

export type Intervals = { api: Interval<ApiReport>[]; workers: Interval<WorkerReport>[] };

/**
 * Pairs the newest report of every running process with the one before it. It must be given every reading, undefined
 * when there was none. Lost reports make an interval longer and lose nothing, since counters are cumulative.
 */
export function createIntervals(): (reports: readonly Seen<ProcessReport>[] | undefined) => Intervals {
  let known = new Map<string, Interval<Seen<ProcessReport>>>();

  return (reports) => {
    if (reports === undefined) return { api: [], workers: [] };
    const running = reports.filter(({ ended, ageMs }) => !ended && ageMs <= REPORTING_MS);
    const next = new Map(running.map((now) => [now.process, intervalTo(now, known.get(now.process))]));
    // One that is silent for a while goes on from its last report.
    for (const { process } of reports) {
      const last = known.get(process);
      if (last !== undefined && !next.has(process)) next.set(process, last);
    }
    known = next;
    const measured = running
      .flatMap(({ process }) => next.get(process) ?? [])
      .filter(({ seconds }) => seconds > 0);
    return {
      api: measured.filter(
        (interval): interval is Interval<Seen<ApiReport>> => interval.now.service === 'api',
      ),
      workers: measured.filter(
        (interval): interval is Interval<Seen<WorkerReport>> => interval.now.service === 'worker',
      ),
    };
  };
}

function intervalTo(
  now: Seen<ProcessReport>,
  last: Interval<Seen<ProcessReport>> | undefined,
): Interval<Seen<ProcessReport>> {
  if (last?.now.upMs === now.upMs) return last;
  if (last !== undefined) {
    return { before: last.now, now, seconds: (now.upMs - last.now.upMs) / 1_000 };
  }
  return { before: undefined, now, seconds: now.upMs <= YOUNG_MS ? Math.max(1, now.upMs / 1_000) : 0 };
}

/** How fast a counter grew in all processes together; undefined where none reports. */
export function perSecond<Report>(
  intervals: readonly Interval<Report>[],
  count: (report: Report) => number,
): number | undefined {
  if (intervals.length === 0) return undefined;
  return intervals.reduce((sum, { before, now, seconds }) => {
    const grown = count(now) - (before === undefined ? 0 : count(before));
    return sum + grown / seconds;
  }, 0);
}

/** What all processes together observed within their intervals; undefined where nothing was. */
export function observed<Report>(
  intervals: readonly Interval<Report>[],
  read: (report: Report) => Distribution,
): Distribution | undefined {
  const parts = intervals.map(({ before, now }) => difference(read(now), before && read(before)));
  const total = parts.reduce<Distribution | undefined>(
    (sum, part) => (sum === undefined ? part : combined(sum, part, (a, b) => a + b)),
    undefined,
  );
  return total === undefined || size(total) === 0 ? undefined : total;
}

function difference(now: Distribution, before: Distribution | undefined): Distribution {
  return before === undefined ? now : combined(now, before, (a, b) => a - b);
}

function combined(a: Distribution, b: Distribution, join: (a: number, b: number) => number): Distribution {
  return {
    bounds: a.bounds,
    counts: a.counts.map((count, index) => join(count, b.counts[index] ?? 0)),
    sum: join(a.sum, b.sum),
  };
}

export function mean(distribution: Distribution | undefined): number | undefined {
  return distribution && distribution.sum / size(distribution);
}

/**
 * The value below which a share of the observations lies, as Prometheus' `histogram_quantile` estimates it: within a
 * range the observations are taken to lie evenly, and beyond the last bound at that bound.
 * @param share from 0 to 1
 */
export function quantile(distribution: Distribution | undefined, share: number): number | undefined {
  if (distribution === undefined) return undefined;
  const { bounds, counts } = distribution;
  const rank = share * size(distribution);
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    const count = counts[index] ?? 0;
    if (count > 0 && below + count >= rank) {
      const lower = bounds[index - 1] ?? 0;
      return lower + ((bound - lower) * (rank - below)) / count;
    }
    below += count;
  }
  return bounds.at(-1);
}

function size({ counts }: Distribution): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
