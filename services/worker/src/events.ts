import type { Anchor, AnchoredHead } from '@plant-store/audit/ledger/anchor';
import type { CreationEntry } from '@plant-store/audit/ledger/audit-entry';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { isDatabaseAway } from '@plant-store/platform/mongo/mongo-failures';
import { readDistribution } from '@plant-store/platform/process/distribution';
import type { Logger } from '@plant-store/platform/process/logger';
import { type OutageLog, outageLog } from '@plant-store/platform/process/outage-log';
import { reasonOf } from '@plant-store/platform/process/reason';
import { isConnectionLost } from '@plant-store/platform/redis/redis';
import type { Registry } from 'prom-client';
import { createChanges } from './changes.ts';
import type { WorkerFigures } from './heartbeat.ts';
import type { PoisonPlant } from './jobs/pending-plants.ts';
import type { JobRecord } from './jobs/process-creation-job.ts';
import { workerMetrics } from './metrics.ts';

/** Plants that have been pending for longer are logged. */
const PENDING_MS_MAX = 60_000;

export type WorkerEvents = ReturnType<typeof workerEvents>;

export type WorkerEventsDeps = {
  logger: Logger;
  registry: Registry;
  /** Told of every failure that is the database's, whichever part met it, and when a batch succeeds. */
  database: OutageLog;
};

/**
 * One function for each event of this service: it updates the metric and, where operators need one, logs a line. An
 * outage of MongoDB or Redis is one pair of lines, not one for each part that meets it: what fails because of the
 * database is told to `database`, and a lost connection to Redis is logged where it is lost.
 */
export function workerEvents({ logger, registry, database }: WorkerEventsDeps) {
  let seenPending: { plants: number; oldestMs: number } | undefined;
  const metrics = workerMetrics(registry, () => seenPending);
  const done = metrics.jobs.labels('done');
  const failed = metrics.jobs.labels('failed');
  const foreign = metrics.jobs.labels('foreign');
  const changes = createChanges();
  const indexes = outageLog(logger, {
    began: 'indexes cannot be created yet: no job is taken before they exist',
    ended: 'the indexes exist',
  });
  const relay = outageLog(logger, {
    began: 'the relay cannot work: it tries again',
    ended: 'the relay works again',
  });
  const queue = outageLog(logger, {
    began: 'the queue met errors: it tries again',
    ended: 'the queue works again',
  });
  const anchoring = outageLog(logger, {
    began: 'audit anchors cannot be made or written out: trying again',
    ended: 'audit anchors are made and written out again',
  });
  const pending = outageLog(logger, {
    began: 'plants have been pending for over a minute',
    ended: 'no plant has been pending for over a minute',
  });

  function failedAt(part: OutageLog, error: unknown): void {
    if (isDatabaseAway(error)) database.fails(error);
    else if (!isConnectionLost(error)) part.fails(error);
  }

  return {
    jobDone(job: JobRecord & { plants: number }): void {
      done.inc();
      queue.works();
      metrics.jobDurations.observe(job.ms / 1_000);
      logger.info(job, 'commits processed');
    },
    /** Logged at the first failure and when the reason changes: the job of a poison plant fails at every retry. */
    jobFailed(job: JobRecord, reason: string): void {
      failed.inc();
      if (changes.isNews(job.job, reason))
        logger.error({ ...job, reason }, 'job failed: the plants concerned stay pending, and it is retried');
    },
    plantsPoisoned(poison: readonly PoisonPlant[]): void {
      metrics.poison.inc(poison.length);
      for (const plant of poison) {
        if (changes.isNews(`plant ${plant.plant}`, plant.reason))
          logger.error(plant, 'plant cannot be processed: it stays pending');
      }
    },
    foreignJob(job: { id: string; name: string }): void {
      foreign.inc();
      if (changes.isNews(job.id, 'foreign'))
        logger.error(
          { job: job.id, name: job.name },
          'the queue holds a job that is no creation job: not retried',
        );
    },
    batchProcessed(commits: number, plants: number, ms: number): void {
      database.works();
      metrics.batchCommits.observe(commits);
      metrics.batchPlants.observe(plants);
      metrics.batchDurations.observe(ms / 1_000);
    },
    plantsIndexed(plants: readonly PlantDocument[]): void {
      metrics.indexed.inc(plants.length);
      const now = Date.now();
      for (const { created } of plants)
        metrics.indexLag.observe(Math.max(0, now - created.valueOf()) / 1_000);
    },
    entriesAudited(entries: readonly CreationEntry[]): void {
      const now = Date.now();
      for (const { when } of entries) metrics.auditLag.observe(Math.max(0, now - when.valueOf()) / 1_000);
    },
    blockSealed(entries: number): void {
      metrics.auditBlocks.inc();
      metrics.audited.inc(entries);
    },
    blockCollided(): void {
      metrics.auditCollisions.inc();
    },
    blockUnknown(error: unknown): void {
      metrics.auditUnknown.inc();
      logger.warn({ reason: reasonOf(error) }, 'an audit block was sent without an answer: looking for it');
    },
    databaseAway(error: unknown): void {
      metrics.databaseAway.inc();
      database.fails(error);
    },
    relayLooked({ plants, oldestMs }: { plants: number; oldestMs: number }): void {
      seenPending = { plants, oldestMs };
      if (oldestMs > PENDING_MS_MAX) pending.fails(`${plants} plants are pending`);
      else pending.works();
    },
    relayPublished(commits: number): void {
      metrics.relayPublished.inc(commits);
      logger.warn({ commits }, 'commits stayed pending: published again');
    },
    relayRemovedOrphans(jobs: number): void {
      metrics.relayOrphans.inc(jobs);
      logger.warn({ jobs }, 'redis lost jobs: their remains were removed');
    },
    relayRetried(jobs: number): void {
      metrics.relayRetried.inc(jobs);
      logger.debug({ jobs }, 'failed jobs are retried');
    },
    relaySwept(): void {
      relay.works();
    },
    relayFailed(error: unknown): void {
      metrics.relayErrors.inc();
      if (isDatabaseAway(error)) seenPending = undefined;
      failedAt(relay, error);
    },
    /** Redis answered: an idle worker has no job whose end would tell so. */
    queueSeen(): void {
      queue.works();
    },
    queueError(error: unknown): void {
      metrics.queueErrors.inc();
      failedAt(queue, error);
    },
    workerStuck(idleMs: number): void {
      metrics.workerRestarts.inc();
      logger.error(
        { idleMs: Math.round(idleMs) },
        'jobs wait and none was taken: the queue worker is replaced',
      );
    },
    jobStalled(job: string): void {
      metrics.stalled.inc();
      logger.warn({ job }, 'a job stalled and is taken over');
    },
    jobsDropped(): void {
      metrics.dropped.inc();
      logger.error('redis is full: waiting jobs were dropped, the relay publishes their commits again');
    },
    redisSettingsRead(faults: readonly string[]): void {
      for (const fault of faults) logger.error({ fault }, 'redis may drop waiting jobs');
    },
    anchorMade({ sequence, entries }: Anchor): void {
      metrics.anchors.inc();
      logger.debug({ sequence, entries }, 'audit anchor made');
    },
    anchorChanged({ chain, height }: AnchoredHead): void {
      metrics.anchorFaults.inc();
      logger.error({ chain, height }, 'an anchored audit block is gone or changed: run "ops audit verify"');
    },
    /** Anchoring does not use Redis: whatever is not the database's is the output's. */
    anchorFailed(error: unknown): void {
      if (isDatabaseAway(error)) database.fails(error);
      else anchoring.fails(error);
    },
    anchoringWorks(): void {
      anchoring.works();
    },
    anchorKeyMissing(): void {
      logger.warn(
        'AUDIT_ANCHOR_KEY is not set: this worker makes no anchors, and a cut audit log is not noticed',
      );
    },
    /** What the console learns of this worker: the same figures as the metrics. */
    async figures(): Promise<WorkerFigures> {
      const outcomes = (await metrics.jobs.get()).values;
      return {
        jobsFailed: outcomes.find(({ labels }) => labels.outcome === 'failed')?.value ?? 0,
        indexLag: await readDistribution(metrics.indexLag),
        auditLag: await readDistribution(metrics.auditLag),
      };
    },
    indexesMissing(error: unknown): void {
      failedAt(indexes, error);
    },
    indexesExist(): void {
      indexes.works();
    },
  };
}
