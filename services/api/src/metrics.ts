import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { readGauge } from '@plant-store/platform/process/metrics';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Statuses of requests for other paths and methods, which are not among the durations. */
const PROBED = ['404', '405'];

/** The metrics of this service. Counters exist with 0 from the start, so that the first event shows as an increase. */
export function apiMetrics(registry: Registry, creates: { waiting: () => number; waitingMax: number }) {
  const registers = [registry];
  /** Successes since the counter was last read: adding up costs less than prom-client's look-up for each. */
  let succeeded = 0;
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests by HTTP status of their answer and number of the error (0: none); 499 where the client hung up before the answer.',
    labelNames: ['status', 'error'] as const,
    registers,
    collect() {
      this.inc({ status: '200', error: '0' }, succeeded);
      succeeded = 0;
    },
  });
  // The gateway alone limits rates.
  const { rateLimited: _, ...own } = errorCatalogue;
  for (const { status, error } of Object.values(own))
    requests.inc({ status: String(status), error: String(error) }, 0);

  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Creates by HTTP status: from the complete head of the request to its answer. Requests for other paths and methods, such as probes, are not among them.',
    labelNames: ['status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  for (const status of new Set(['200', ...Object.values(own).map(({ status }) => String(status))]))
    if (!PROBED.includes(status)) durations.zero({ status });
  const commits = new Counter({
    name: 'plants_commits_total',
    help: 'Inserts of commits by result: acknowledged, duplicates, unknown, not_sent.',
    labelNames: ['result'] as const,
    registers,
  });
  const publications = new Counter({
    name: 'plants_publications_total',
    help: 'Commits by result of their publication: published, left_to_relay.',
    labelNames: ['result'] as const,
    registers,
  });
  readGauge(registry, 'plants_creates_waiting', 'Creates that wait for a commit.', creates.waiting);
  readGauge(
    registry,
    'plants_creates_waiting_max',
    'Creates that may wait for a commit; a further one is refused.',
    () => creates.waitingMax,
  );

  /** The samples of one status or result, found once: prom-client would look labels up at each observation. */
  const durationsOf = new Map<number, { observe: (seconds: number) => void }>();
  return {
    requests,
    succeeded: () => {
      succeeded++;
    },
    notStored: requests.labels('503', String(errorCatalogue.notStored.error)),
    overloaded: new Gauge({
      name: 'plants_overloaded',
      help: '1 while more creates come than are stored, and those beyond one full commit are refused with 5001.',
      registers,
    }),
    durations,
    durationOf(status: number) {
      const known = durationsOf.get(status) ?? durations.labels(String(status));
      durationsOf.set(status, known);
      return known;
    },
    commits: startedAtZero(commits, ['acknowledged', 'duplicates', 'unknown', 'not_sent']),
    commitPlants: new Histogram({
      name: 'plants_commit_plants',
      help: 'Plants per commit.',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
      registers,
    }),
    commitDurations: new Histogram({
      name: 'plants_commit_insert_duration_seconds',
      help: 'From sending the insert of a commit to its acknowledgement by a majority, or to giving it up.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    publications: startedAtZero(publications, ['published', 'left_to_relay']),
    queueErrors: new Counter({
      name: 'plants_queue_errors_total',
      help: 'Errors of the queue that befell no job.',
      registers,
    }),
  };
}

function startedAtZero<Result extends string>(counter: Counter<'result'>, results: readonly Result[]) {
  for (const result of results) counter.inc({ result }, 0);
  return Object.fromEntries(results.map((result) => [result, counter.labels(result)])) as Record<
    Result,
    Counter.Internal
  >;
}
