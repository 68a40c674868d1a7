import { setTimeout as pause } from 'node:timers/promises';
import { CREATIONS_QUEUE, type CreationJobData, readCreationJob } from '@plant-store/contracts/creation-job';
import { refusalOf } from '@plant-store/platform/redis/redis';
import { UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { CreationWorker } from './keep-working.ts';
import type { CreationJob } from './process-creation-job.ts';

/** A job whose worker died or hangs is taken over after at most this and two stall checks: 20 s (L2). */
const LOCK_MS = 10_000;
const STALL_CHECK_MS = 5_000;
/** A job that stalls more often fails, and the relay retries it later, since it may be what kills its workers. */
const STALLS_MAX = 3;
/** Pause before a new try after a lost connection; BullMQ's default is 15 s. */
const RETRY_MS = 1_000;
/** Pause after Redis refused a command (full, read-only, loading); BullMQ would retry without a pause. */
const REFUSED_MS = 1_000;
/** The last time that a Date can hold. */
const TIME_MS_MAX = 8.64e15;
/** At shutdown, active jobs have this long to finish; it is less than the process has to exit. */
const CLOSE_MS_MAX = 6_000;

export type BullmqWorkerDeps = {
  /** A connection for this worker alone: it is disconnected at shutdown. */
  redis: Redis;
  prefix: string;
  /** The name of its connection in Redis; the console identifies the worker by it. */
  name: string;
  concurrency: number;
  process: (job: CreationJob) => Promise<void>;
  on: {
    error: (error: Error) => void;
    stalled: (jobId: string) => void;
    /** A job on the queue names no commit, so it is not a creation job. */
    foreign: (job: { id: string; name: string }) => void;
    /** Redis is full and refuses writes until it has memory again. */
    full: () => Promise<void>;
  };
};

/** BullMQ stores it with the job; Redis may have lost it, or another program may have written anything. */
function publicationOf(timestamp: unknown): { publishedAt?: Date } {
  const isTime = Number.isSafeInteger(timestamp) && Math.abs(timestamp as number) <= TIME_MS_MAX;
  return isTime ? { publishedAt: new Date(timestamp as number) } : {};
}

/** Takes creation jobs through BullMQ, many at once. Redis may be away, at the start too. */
export function bullmqCreationWorker(deps: BullmqWorkerDeps): CreationWorker {
  const { redis, prefix, name, concurrency, on } = deps;
  let inHand = 0;
  let idleSince = performance.now();
  let closing = false;

  const worker = new Worker<CreationJobData>(
    CREATIONS_QUEUE,
    async ({ id = '', name, data, timestamp }) => {
      inHand++;
      try {
        const { commits, traceparent } = readCreationJob(id, data);
        if (commits.length === 0) {
          on.foreign({ id, name });
          throw new UnrecoverableError('no creation job: it names no commit');
        }
        const published = publicationOf(timestamp);
        await deps.process({
          id,
          commits: commits.map((commit) => ({ ...commit, ...published })),
          traceparent,
        });
      } finally {
        inHand--;
        idleSince = performance.now();
      }
    },
    {
      connection: redis,
      prefix,
      // The name of a Redis connection cannot contain white space.
      name: name.replace(/\s/g, '-'),
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALL_CHECK_MS,
      maxStalledCount: STALLS_MAX,
      runRetryDelay: RETRY_MS,
      // Set here too, for jobs whose own options Redis evicted: a kept job's id would block every later publication.
      removeOnComplete: { count: 0 },
    },
  );
  worker.on('stalled', on.stalled);
  worker.on('error', (error) => {
    on.error(error);
    if (error.name === 'ReplyError') void stepBack(error);
  });

  let steppingBack = false;
  async function stepBack(error: Error): Promise<void> {
    if (steppingBack || closing) return;
    steppingBack = true;
    await worker.pause(true);
    if (refusalOf(error) === 'full') await on.full().catch(on.error);
    await pause(REFUSED_MS);
    steppingBack = false;
    if (!closing) await worker.resume();
  }

  return {
    idleMs: () => (inHand > 0 ? 0 : performance.now() - idleSince),
    async close() {
      closing = true;
      await Promise.race([worker.close(), pause(CLOSE_MS_MAX, undefined, { ref: false })]);
      redis.disconnect();
    },
  };
}
