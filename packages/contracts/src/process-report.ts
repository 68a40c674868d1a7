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
