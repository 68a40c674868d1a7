import { readGauge } from '@plant-store/platform/process/metrics';
import { Counter, Histogram, type Registry } from 'prom-client';

/** In seconds; from a batch at once to a backlog of minutes. */
const LAGS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** What the relay saw in its last sweep; undefined before the first and while it cannot read. */
type SeenPending = { plants: number; oldestMs: number } | undefined;

/** The metrics of this service: what this worker did and sees. The state of queue and database is told by ops. */
export function workerMetrics(registry: Registry, pending: () => SeenPending) {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  readGauge(
    registry,
    'plants_relay_pending',
    'Pending plants that this worker’s relay saw in its last sweep, at most 100000.',
    () => pending()?.plants,
  );
  readGauge(
    registry,
    'plants_relay_pending_oldest_seconds',
    'How long this worker’s relay has seen the oldest pending plant, by its own clock.',
    () => {
      const seen = pending();
      return seen && seen.oldestMs / 1_000;
    },
  );
  const jobs = new Counter({
    name: 'plants_jobs_total',
    help: 'Jobs taken from the queue by outcome: done, failed, foreign (no creation job).',
    labelNames: ['outcome'] as const,
    registers,
  });
  for (const outcome of ['done', 'failed', 'foreign']) jobs.inc({ outcome }, 0);
  const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

  return {
    jobs,
    jobDurations: new Histogram({
      name: 'plants_job_duration_seconds',
      help: 'From taking a creation job to its end, waiting for the database included.',
      buckets: [...durations, 10, 30, 60],
      registers,
    }),
    batchCommits: new Histogram({
      name: 'plants_batch_commits',
      help: 'Commits per batch.',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    }),
    batchPlants: new Histogram({
      name: 'plants_batch_plants',
      help: 'Plants processed per batch.',
      buckets: [0, 1, 5, 10, 50, 100, 500, 1_000, 2_500, 5_000, 10_000],
      registers,
    }),
    batchDurations: new Histogram({
      name: 'plants_batch_duration_seconds',
      help: 'One batch: read, index, audit, clear.',
      buckets: durations,
      registers,
    }),
    indexLag: new Histogram({
      name: 'plants_index_lag_seconds',
      help: 'From the creation of a plant, by the clock of its API replica, to its being searchable.',
      buckets: LAGS,
      registers,
    }),
    auditLag: new Histogram({
      name: 'plants_audit_lag_seconds',
      help: 'From the creation of a plant, by the clock of its API replica, to its being in a sealed audit block.',
      buckets: LAGS,
      registers,
    }),
    indexed: counter('plants_indexed_total', 'Plants made searchable; a repetition counts again.'),
    audited: counter('plants_audited_total', 'Entries sealed in audit blocks.'),
    auditBlocks: counter('plants_audit_blocks_total', 'Audit blocks sealed.'),
    auditCollisions: counter(
      'plants_audit_collisions_total',
      'Blocks refused because the chain or an event had been taken by another.',
    ),
    auditUnknown: counter('plants_audit_unknown_total', 'Blocks sent without an answer.'),
    anchors: counter('plants_audit_anchors_total', 'Audit anchors that this worker made.'),
    anchorFaults: counter(
      'plants_audit_anchor_faults_total',
      'Anchored blocks that were gone or changed when the next anchor was made.',
    ),
    poison: counter('plants_poison_total', 'Attempts at plants that cannot be processed.'),
    databaseAway: counter(
      'plants_database_away_total',
      'Batches given up because the database did not answer.',
    ),
    relayPublished: counter('plants_relay_published_total', 'Commits that the relay published again.'),
    relayOrphans: counter(
      'plants_relay_orphans_removed_total',
      'Lost jobs whose remains the relay removed, since they held their ids.',
    ),
    relayRetried: counter('plants_relay_retried_total', 'Failed jobs that the relay retried.'),
    relayErrors: counter('plants_relay_errors_total', 'Sweeps of the relay that failed.'),
    queueErrors: counter('plants_queue_errors_total', 'Errors of the queue that befell no job.'),
    workerRestarts: counter(
      'plants_queue_worker_restarts_total',
      'Queue workers replaced because they were stuck.',
    ),
    stalled: counter('plants_jobs_stalled_total', 'Jobs taken over from a worker that lost its lock.'),
    dropped: counter(
      'plants_queue_dropped_total',
      'Times that waiting jobs were dropped because Redis was full.',
    ),
  };
}
