import type { ApiReport } from '@plant-store/contracts/process-report';
import { readDistribution } from '@plant-store/platform/process/distribution';
import type { Logger } from '@plant-store/platform/process/logger';
import { outageLog } from '@plant-store/platform/process/outage-log';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { InsertReport } from './domain/plant-store.ts';

/** A request that took longer is logged, also when it succeeded. */
const SLOW_MS = 1_000;

export type AnsweredRequest = { request: string; method: string; status: number; error: number; ms: number };

export type ApiEvents = ReturnType<typeof apiEvents>;

/** One function for each event of this service: it updates metrics and writes a log line if an operator needs one. */
export function apiEvents(logger: Logger, registry: Registry, waiting: () => number) {
  const registers = [registry];
  const requests = new Counter({
    name: 'plants_http_requests_total',
    help: 'Answered requests by HTTP status and number of the error (0: none).',
    labelNames: ['status', 'error'],
    registers,
  });
  const durations = new Histogram({
    name: 'plants_http_request_duration_seconds',
    help: 'From the complete head of a request to its answer; where no head came, the time it was waited for.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const commits = new Counter({
    name: 'plants_commits_total',
    help: 'Inserts of commits by result: acknowledged, duplicates, unknown, not_sent.',
    labelNames: ['result'],
    registers,
  });
  const commitPlants = new Histogram({
    name: 'plants_commit_plants',
    help: 'Plants per commit.',
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500],
    registers,
  });
  const commitDurations = new Histogram({
    name: 'plants_commit_insert_duration_seconds',
    help: 'From sending the insert of a commit to its acknowledgement by a majority, or to giving it up.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers,
  });
  const publications = new Counter({
    name: 'plants_publications_total',
    help: 'Commits by result of their publication: published, left_to_relay.',
    labelNames: ['result'],
    registers,
  });
  const queueErrors = new Counter({
    name: 'plants_queue_errors_total',
    help: 'Errors of the queue that befell no job.',
    registers,
  });
  new Gauge({
    name: 'plants_creates_waiting',
    help: 'Creates that wait for a commit.',
    registers,
    collect() {
      this.set(waiting());
    },
  });

  const successes = requests.labels('200', '0');
  const publishing = outageLog(logger, {
    began: 'creation jobs cannot be published: the relay publishes them later',
    ended: 'creation jobs are published again',
  });

  return {
    answered(answer: AnsweredRequest): void {
      durations.observe(answer.ms / 1_000);
      if (answer.status < 400) successes.inc();
      else requests.labels(String(answer.status), String(answer.error)).inc();

      if (answer.status >= 500) logger.warn(answer, 'request failed');
      else if (answer.status >= 400) logger.info(answer, 'request refused');
      else if (answer.ms > SLOW_MS) logger.warn(answer, 'request was slow');
    },
    inserted(plants: number, ms: number, report: InsertReport): void {
      const result = insertResult(report);
      commits.labels(result).inc();
      commitPlants.observe(plants);
      commitDurations.observe(ms / 1_000);
      if (result !== 'unknown' && result !== 'not_sent') return;
      logger.warn({ plants, ms, result, reason: report.reason }, 'commit was not acknowledged');
    },
    publishing: {
      published(commits: number): void {
        publications.labels('published').inc(commits);
        publishing.works();
      },
      leftToRelay(commits: number, reason: unknown): void {
        publications.labels('left_to_relay').inc(commits);
        publishing.fails(reason);
      },
      queueError(error: unknown): void {
        queueErrors.inc();
        logger.debug({ reason: String(error) }, 'the queue met an error');
      },
    },
    keySetFetched(failure: unknown): void {
      if (failure !== undefined)
        logger.warn({ reason: String(failure) }, 'the key set cannot be fetched: the last one stays in use');
    },
    /** What the console learns of this replica: the same figures as the metrics. */
    async report(): Promise<Pick<ApiReport, 'answers' | 'latency' | 'commitPlants'>> {
      const answers: ApiReport['answers'] = {};
      for (const { labels, value } of (await requests.get()).values) {
        const status = String(labels.status);
        answers[status] = (answers[status] ?? 0) + value;
      }
      return {
        answers,
        latency: await readDistribution(durations),
        commitPlants: await readDistribution(commitPlants),
      };
    },
    /** An error that only a bug can cause. */
    defect(error: unknown): void {
      logger.error({ err: error }, 'defect');
    },
  };
}

function insertResult(report: InsertReport): 'acknowledged' | 'duplicates' | 'unknown' | 'not_sent' {
  if (!report.sent) return 'not_sent';
  if (report.occupied === 'unknown') return 'unknown';
  return report.occupied.size === 0 ? 'acknowledged' : 'duplicates';
}
