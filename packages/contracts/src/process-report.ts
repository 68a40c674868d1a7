/** How often each range of values was observed since the process started, as a Prometheus histogram counts. */
export type Distribution = {
  /** Upper bounds of the ranges, ascending, the last one infinite and left out. */
  bounds: number[];
  /** Observations in each range alone; one more than there are bounds. */
  counts: number[];
  /** Of all observed values. */
  sum: number;
};

/** What an API replica reports about itself every 2 s. Counters count from its start. */
export type ApiReport = ReportedProcess & {
  service: 'api';
  /** Answered requests by HTTP status. */
  answers: Record<string, number>;
  /** Of answers, in seconds. */
  latency: Distribution;
  /** Plants per commit. */
  commitPlants: Distribution;
};

/** What a worker reports about itself every 2 s. */
export type WorkerReport = ReportedProcess & {
  service: 'worker';
  jobsInHand: number;
  /** Batches processed since its start. */
  batches: number;
  /** Since the end of the last batch; absent before the first. */
  sinceBatchMs?: number;
  /** Attempts that failed, since its start. */
  jobsFailed: number;
  /** From the creation of a plant to its being searchable, in seconds. */
  indexLag: Distribution;
  /** From the creation of a plant to its being in a sealed block, in seconds. */
  auditLag: Distribution;
};

/** Reports carry durations, not times, since the clocks of machines may differ. */
type ReportedProcess = { name: string; version: string; upMs: number };

export type ProcessReport = ApiReport | WorkerReport;

/**
 * Reads a report without trusting it: another version or program may have written it. Fields of other names are left
 * out.
 * @returns undefined when it is no report
 */
export function readProcessReport(value: unknown): ProcessReport | undefined {
  const report = fields(value);
  const { service, name, version, upMs } = report;
  if (typeof name !== 'string' || typeof version !== 'string' || !isCount(upMs)) return undefined;
  const common = { name, version, upMs };
  if (service === 'api') {
    const { answers, latency, commitPlants } = report;
    if (!isCounts(answers) || !isDistribution(latency) || !isDistribution(commitPlants)) return undefined;
    return { service, ...common, answers, latency, commitPlants };
  }
  if (service !== 'worker') return undefined;
  const { jobsInHand, batches, sinceBatchMs, jobsFailed, indexLag, auditLag } = report;
  if (!isCount(jobsInHand) || !isCount(batches) || !isCount(jobsFailed)) return undefined;
  if (sinceBatchMs !== undefined && !isCount(sinceBatchMs)) return undefined;
  if (!isDistribution(indexLag) || !isDistribution(auditLag)) return undefined;
  return {
    service,
    ...common,
    jobsInHand,
    batches,
    ...(sinceBatchMs !== undefined && { sinceBatchMs }),
    jobsFailed,
    indexLag,
    auditLag,
  };
}

function isDistribution(value: unknown): value is Distribution {
  const { bounds, counts, sum } = fields(value);
  return (
    isList(bounds) &&
    isList(counts) &&
    counts.length === bounds.length + 1 &&
    counts.every(isCount) &&
    isNumber(sum)
  );
}

function isCounts(value: unknown): value is Record<string, number> {
  return typeof value === 'object' && value !== null && Object.values(value).every(isCount);
}

function isList(value: unknown): value is number[] {
  return Array.isArray(value) && value.every(isNumber);
}

function isCount(value: unknown): value is number {
  return isNumber(value) && value >= 0;
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
