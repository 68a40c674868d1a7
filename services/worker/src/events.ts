import type { PlantDocument } from '@plant-store/contracts/plant-document';
import type { Logger } from '@plant-store/platform/logger';
import type { Registry } from 'prom-client';
import type { PoisonPlant } from './jobs/pending-plants.ts';
import { workerMetrics } from './metrics.ts';
import type { QueueStatus } from './outbox/creation-queue.ts';

/** Marks that have stayed for so long, or a queue error repeated within it, are worth a line, once in that time. */
const ALERT_MS = 60_000;

export type FinishedJob = { commit: string; ms: number; traceparent: string | undefined };

export type WorkerEvents = ReturnType<typeof workerEvents>;

/** What happens in this service, one function an event: its metric and, where an operator wants it, its log line. */
export function workerEvents(logger: Logger, registry: Registry) {
  const metrics = workerMetrics(registry);
  const done = metrics.jobs.labels('done');
  const failed = metrics.jobs.labels('failed');
  const onceIn = onceInAWhile(ALERT_MS);
  let away = false;

  return {
    jobDone(job: FinishedJob & { plants: number }): void {
      done.inc();
      metrics.jobDurations.observe(job.ms / 1_000);
      logger.info(job, 'commit processed');
    },
    jobFailed(job: FinishedJob, error: unknown): void {
      failed.inc();
      logger.error({ ...job, reason: messageOf(error) }, 'commit failed: its plants stay pending');
    },
    plantsPoisoned(poison: readonly PoisonPlant[]): void {
      metrics.poison.inc(poison.length);
      for (const plant of poison) logger.error(plant, 'plant cannot be processed');
    },
    ran(commits: number, plants: number, ms: number): void {
      away = false;
      metrics.runCommits.observe(commits);
      metrics.runPlants.observe(plants);
      metrics.runDurations.observe(ms / 1_000);
    },
    plantsIndexed(plants: readonly PlantDocument[]): void {
      metrics.indexed.inc(plants.length);
      const now = Date.now();
      for (const { created } of plants)
        metrics.indexLag.observe(Math.max(0, now - created.valueOf()) / 1_000);
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
      logger.warn({ reason: messageOf(error) }, 'an audit block was sent without an answer: looking for it');
    },
    /** Logged once an outage: the metric counts all. */
    databaseAway(error: unknown): void {
      metrics.databaseAway.inc();
      if (!away) logger.warn({ reason: messageOf(error) }, 'the database does not answer: jobs wait for it');
      away = true;
    },
    relaySwept({ plants, oldestMs }: { plants: number; oldestMs: number }): void {
      metrics.pendingMarks.set(plants);
      metrics.pendingAge.set(oldestMs / 1_000);
      if (oldestMs > ALERT_MS && onceIn('marks')) {
        logger.error({ plants, oldestMs: Math.round(oldestMs) }, 'plants have stayed pending for too long');
      }
    },
    relayRang(commits: number): void {
      metrics.rings.inc(commits);
      logger.warn({ commits }, 'rang again for commits that stayed pending');
    },
    relayReleased(commits: number): void {
      metrics.released.inc(commits);
      logger.warn({ commits }, 'let go of the ids of jobs that redis lost');
    },
    relayRetried(jobs: number): void {
      metrics.retried.inc(jobs);
      logger.warn({ jobs }, 'drove failed jobs again');
    },
    relayFailed(error: unknown): void {
      metrics.relayErrors.inc();
      if (onceIn('relay')) logger.warn({ reason: messageOf(error) }, 'the relay cannot sweep: trying again');
    },
    queueSeen(status: QueueStatus): void {
      for (const state of ['waiting', 'active', 'failed', 'delayed'] as const) {
        metrics.queueJobs.labels(state).set(status[state]);
      }
      metrics.queueAge.set(status.oldestWaitingMs / 1_000);
    },
    queueError(error: unknown): void {
      metrics.workerErrors.inc();
      if (onceIn(`queue ${messageOf(error).slice(0, 20)}`)) {
        logger.warn({ reason: messageOf(error) }, 'the queue worker met an error');
      }
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
      logger.error('redis is full: waiting jobs were dropped, the relay rings for them again');
    },
    redisSettingsRead(faults: readonly string[]): void {
      metrics.redisFaults.set(faults.length);
      for (const fault of faults) logger.error({ fault }, 'redis may drop waiting jobs');
    },
    indexesMissing(error: unknown): void {
      logger.warn({ reason: messageOf(error) }, 'indexes cannot be created yet: trying again');
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for a subject at most once in that time, so that an outage is no flood of lines. */
function onceInAWhile(ms: number): (subject: string) => boolean {
  const lines = new Map<string, number>();
  return (subject) => {
    const now = performance.now();
    if (now - (lines.get(subject) ?? Number.NEGATIVE_INFINITY) < ms) return false;
    if (lines.size > 100) lines.clear();
    lines.set(subject, now);
    return true;
  };
}
