import type { Histogram } from 'prom-client';

/** What a histogram observed under all labels together: how many in each bucket alone, the last one without a bound. */
export async function readDistribution(
  histogram: Histogram,
): Promise<{ bounds: number[]; counts: number[]; sum: number }> {
  const below = new Map<number, number>();
  let sum = 0;
  for (const { labels, metricName, value } of (await histogram.get()).values) {
    const { le } = labels as { le?: number | '+Inf' };
    if (le !== undefined) {
      const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : le;
      below.set(bound, (below.get(bound) ?? 0) + value);
    } else if (metricName?.endsWith('_sum')) {
      sum += value;
    }
  }
  const cumulated = [...below.values()];
  return {
    bounds: [...below.keys()].filter(Number.isFinite),
    counts: cumulated.map((value, index) => value - (cumulated[index - 1] ?? 0)),
    sum,
  };
}
