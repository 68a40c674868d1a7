/** Lines of one kind in any second: the first ones of an outage tell enough, and the metrics count all. */
const LINES_PER_S = 5;
const SECOND_MS = 1_000;

/**
 * Bounds how often a kind of line is written. Says for each whether to write it, and how many were left out since the
 * last one that was written.
 */
export function sampledLines(now: () => number = () => performance.now()) {
  const kinds = new Map<string | number, { second: number; lines: number; leftOut: number }>();
  return {
    /** @returns undefined when the line is to be left out */
    take(kind: string | number): { leftOut?: number } | undefined {
      const known = kinds.get(kind) ?? { second: Number.NEGATIVE_INFINITY, lines: 0, leftOut: 0 };
      kinds.set(kind, known);
      if (now() - known.second >= SECOND_MS) Object.assign(known, { second: now(), lines: 0 });
      if (known.lines >= LINES_PER_S) {
        known.leftOut++;
        return undefined;
      }
      known.lines++;
      const { leftOut } = known;
      known.leftOut = 0;
      return leftOut === 0 ? {} : { leftOut };
    },
  };
}
