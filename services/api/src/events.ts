import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import type { ApiReport } from '@plant-store/contracts/process-report';
import { readDistribution } from '@plant-store/platform/process/distribution';
import type { Logger } from '@plant-store/platform/process/logger';
import { type OutageLog, outageLog } from '@plant-store/platform/process/outage-log';
import { reasonOf } from '@plant-store/platform/process/reason';
import { sampledLines } from '@plant-store/platform/process/sampled-lines';
import { isConnectionLost } from '@plant-store/platform/redis/redis';
import type { Registry } from 'prom-client';
import type { InsertReport } from './domain/plant-store.ts';
import { apiMetrics } from './metrics.ts';

/** A request that took longer is logged, also when it succeeded. */
const SLOW_MS = 1_000;

/** Counts requests whose client hung up before the answer, as in the gateway's log; no client receives it. */
const HUNG_UP = 499;

export type AnsweredRequest = {
  request: string;
  method: string;
  /** Without the query, in which clients may send secrets. Only of requests that were refused. */
  path?: string;
  status: number;
  error: number;
  ms: number;
};

/** A request whose client closed the connection before its answer. */
export type HungUpRequest = Pick<AnsweredRequest, 'request' | 'method' | 'path' | 'ms'>;

export type Insert = { commit: string; plants: number; ms: number; report: InsertReport };

export type ApiEvents = ReturnType<typeof apiEvents>;

export type ApiEventsDeps = {
  logger: Logger;
  registry: Registry;
  /** Told when an insert fails because of the database, and when one succeeds. */
  database: OutageLog;
  creates: { waiting: () => number; waitingMax: number };
};

/** One function for each event of this service: it updates metrics and writes a log line if an operator needs one. */
export function apiEvents({ logger, registry, database, creates }: ApiEventsDeps) {
  const metrics = apiMetrics(registry, creates);
  const lines = sampledLines();
  const publishing = outageLog(logger, {
    began: 'creation jobs cannot be published: the relay publishes them later',
    ended: 'creation jobs are published again',
  });
  const overload = outageLog(logger, {
    began: 'more creates come than can be stored: those beyond a full commit are refused',
    ended: 'no create is refused for load any more',
  });
  const keySet = outageLog(logger, {
    began: 'the key set cannot be fetched: the last one stays in use',
    ended: 'the key set is fetched again',
  });

  /** Not while the database does not answer: that is why creates wait, and it has its own line. */
  function tellOverload(): void {
    if (!database.failing()) overload.fails('they wait for longer than a full commit takes');
  }

  return {
    /** @param isCreate whether it was a request for the one operation: only those have a duration that means something */
    answered(answer: AnsweredRequest, isCreate: boolean): void {
      const { status, error, ms } = answer;
      if (isCreate) metrics.durationOf(status).observe(ms / 1_000);
      if (status < 400) metrics.succeeded();
      else metrics.requests.labels(String(status), String(error)).inc();

      if (status >= 500) {
        // An outage fails thousands of requests a second: its two lines say what happened, and some requests show it.
        const sample = status === 500 ? {} : lines.take(error);
        if (sample !== undefined) logger.warn({ ...answer, ...sample }, 'request failed');
      } else if (status >= 400) logger.info(answer, 'request refused');
      else if (ms > SLOW_MS) logger.warn(answer, 'request was slow');
    },
    /** What the request did is not undone: a create may be stored, and its client finds out when it asks again. */
    hungUp(request: HungUpRequest): void {
      metrics.requests.labels(String(HUNG_UP), '0').inc();
      const sample = lines.take(HUNG_UP);
      if (sample !== undefined)
        logger.info({ ...request, status: HUNG_UP, ...sample }, 'the client hung up before its answer');
    },
    inserted({ commit, plants, ms, report }: Insert): void {
      const result = insertResult(report);
      metrics.commits[result].inc();
      metrics.commitPlants.observe(plants);
      metrics.commitDurations.observe(ms / 1_000);
      if (result === 'acknowledged' || result === 'duplicates') {
        database.works();
        return;
      }

      const { reason, databaseAway = true } = report;
      if (databaseAway) database.fails(reason);
      // Each unknown outcome is a line: what is stored of that commit is found by its id. Of a commit that was not
      // sent nothing is stored.
      const sample = result === 'unknown' ? {} : lines.take(result);
      if (sample !== undefined)
        logger.warn({ commit, plants, ms, result, reason, ...sample }, 'commit was not acknowledged');
    },
    /**
     * Stored plants could not be read: creates that need them to know their outcome are answered with 5002. An outage of
     * the database has its own line.
     */
    readFailed(read: { plants: number; reason: string }): void {
      const sample = database.failing() ? undefined : lines.take('read');
      if (sample !== undefined) logger.warn({ ...read, ...sample }, 'stored plants cannot be read');
    },
    /** Overload has begun or ended: one line for all creates that are refused meanwhile. */
    overloaded(now: boolean): void {
      metrics.overloaded.set(now ? 1 : 0);
      if (now) tellOverload();
      else overload.works();
    },
    /** A create was refused before anything was done for it. Some of them show in the log. */
    refusedForLoad(request: string): void {
      metrics.notStored.inc();
      // It may have begun while the database was away.
      tellOverload();
      const { status, error } = errorCatalogue.notStored;
      const sample = lines.take(error);
      if (sample !== undefined)
        logger.warn(
          { request, method: 'POST', path: '/plants', status, error, ms: 0, ...sample },
          'request failed',
        );
    },
    publishing: {
      published(commits: number): void {
        metrics.publications.published.inc(commits);
        publishing.works();
      },
      leftToRelay(commits: number, reason: unknown): void {
        metrics.publications.left_to_relay.inc(commits);
        // A lost connection is logged where it is lost.
        if (!isConnectionLost(reason)) publishing.fails(reason);
      },
      queueError(error: unknown): void {
        metrics.queueErrors.inc();
        logger.debug({ reason: reasonOf(error) }, 'the queue met an error');
      },
    },
    /** A replica without requests publishes nothing, so that Redis is back ends the outage as well. */
    redisReady(): void {
      publishing.works();
    },
    keySetFetched(failure: unknown): void {
      if (failure === undefined) keySet.works();
      else keySet.fails(failure);
    },
    /** What the console learns of this replica: the same figures as the metrics. */
    async report(): Promise<Pick<ApiReport, 'answers' | 'latency' | 'commitPlants'>> {
      const answers: ApiReport['answers'] = {};
      for (const { labels, value } of (await metrics.requests.get()).values) {
        // A status that no answer had yet exists with 0.
        if (value === 0) continue;
        const status = String(labels.status);
        answers[status] = (answers[status] ?? 0) + value;
      }
      return {
        answers,
        latency: await readDistribution(metrics.durations),
        commitPlants: await readDistribution(metrics.commitPlants),
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
