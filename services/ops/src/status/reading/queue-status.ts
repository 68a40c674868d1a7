import { type ProcessReport, readProcessReport } from '@plant-store/contracts/process-report';
import { readHeartbeats, type Seen } from '@plant-store/platform/redis/heartbeats';
import { type QueueStatus as QueueFigures, readQueueStatus } from '@plant-store/platform/redis/queue-status';
import type { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type PauseRecord, readPause } from '../../controls/pause-record.ts';
import { commitsOf } from '../../failures/failed-jobs.ts';
import { type WorkerStatus, workersOf } from './worker-status.ts';

/** The states an operator asks about; completed jobs are not kept. */
export const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;
/** States into which nothing of this system puts a job. */
const UNUSUAL_STATES = ['delayed', 'prioritized', 'waiting-children'] as const;
/** Failed jobs read for their reasons and commits; as many waiting ones, to find jobs of other names. */
const JOBS_READ_MAX = 100;

export type QueueStatus = QueueFigures & {
  /** Workers connected to the queue; undefined where CLIENT LIST is forbidden, as by managed services. */
  connections: number | undefined;
  workers: WorkerStatus[];
  /** The last report of every process of API and worker of the last 10 minutes. */
  reports: Seen<ProcessReport>[];
  /** Of the pause in force, where the console began it. */
  pause: PauseRecord | undefined;
  /** Jobs in states that this system does not use. */
  unusual: Record<string, number>;
  /** Names of jobs that are no creation jobs. */
  foreignJobs: string[];
  /** Distinct reasons of failed jobs, the newest first. */
  failureReasons: string[];
  /** Commits of failed jobs. */
  failedCommits: string[];
  /** Limits that somebody set on the whole queue. */
  rateLimit: { max: number; perMs: number } | undefined;
  concurrency: number | undefined;
  /** For this long no job is handed out: the rate limit is reached, or somebody halted the queue. */
  haltedMs: number | undefined;
};

/**
 * @param unreadable is given the processes whose report is none, at every reading; such a report is left out
 * @throws when Redis does not answer in time
 */
export async function readQueue(
  queue: Queue,
  redis: Redis,
  prefix: string,
  unreadable: (processes: readonly string[]) => void,
): Promise<QueueStatus> {
  // A queue that was never connected would wait for Redis instead of failing.
  if (redis.status !== 'ready') throw new Error(`the connection is ${redis.status}`);
  const clients = await queue.getWorkers();
  const [figures, heartbeats, unusual, waiting, failed, concurrency, rateLimit, haltedMs, pause] =
    await Promise.all([
      readQueueStatus(queue),
      readHeartbeats(redis, prefix, readProcessReport),
      queue.getJobCounts(...UNUSUAL_STATES),
      queue.getJobs(['wait', 'prioritized', 'delayed'], 0, JOBS_READ_MAX - 1, true),
      queue.getJobs(['failed'], 0, JOBS_READ_MAX - 1),
      queue.getGlobalConcurrency(),
      queue.getGlobalRateLimit(),
      queue.getRateLimitTtl(),
      readPause(redis, prefix),
    ]);
  const { reports } = heartbeats;
  unreadable(heartbeats.unreadable);
  const connected = new Set(clients.map((client) => client['rawname']?.split(':w:')[1]));
  return {
    ...figures,
    connections: clients.every(isConnection) ? clients.length : undefined,
    workers: workersOf(
      reports.filter((report) => report.service === 'worker'),
      (name) => connected.has(name.replace(/\s/g, '-')),
    ),
    reports,
    pause: figures.paused ? pause : undefined,
    unusual,
    foreignJobs: distinct([...waiting, ...failed].filter(isForeign).map(({ name }) => name)),
    failureReasons: distinct(failed.map(({ failedReason }) => failedReason)),
    failedCommits: distinct(failed.flatMap(commitsOf)),
    rateLimit: rateLimit === null ? undefined : { max: rateLimit.max, perMs: rateLimit.duration },
    concurrency: concurrency ?? undefined,
    haltedMs: haltedMs > 0 ? haltedMs : undefined,
  };
}

/** Where CLIENT LIST is forbidden BullMQ answers with one entry that has a name and no address. */
function isConnection(client: Record<string, string>): boolean {
  return client['addr'] !== undefined;
}

function isForeign(job: Job): boolean {
  return commitsOf(job).length === 0;
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].filter(Boolean);
}
