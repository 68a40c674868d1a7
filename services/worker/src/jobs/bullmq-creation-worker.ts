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
/** A job that stalled more often fails and waits for the relay, so that one that kills its worker does not do so at once. */
const STALLS_MAX = 3;
/** After a lost connection BullMQ would wait 15 s. */
const RETRY_MS = 1_000;
/** Redis that refuses commands (full, read-only, loading) is left alone for so long; BullMQ would ask without a pause. */
const REFUSED_MS = 1_000;
/** Jobs in hand are given this long at a close: less than a process has to exit. */
const CLOSE_MS_MAX = 6_000;

export type BullmqWorkerDeps = {
  /** Of its own, since it is disconnected at the close. */
  redis: Redis;
  prefix: string;
  /** By which Redis, and so the console, knows its connection. */
  name: string;
  concurrency: number;
  process: (job: CreationJob) => Promise<void>;
  on: {
    error: (error: Error) => void;
    stalled: (jobId: string) => void;
    /** Somebody else's job is on the queue: it names no commit. */
    foreign: (job: { id: string; name: string }) => void;
    /** Redis takes no more: only room helps. */
    full: () => Promise<void>;
  };
};

/** Takes creation jobs through BullMQ, many at once. Redis may be away, at the start too. */
export function bullmqCreationWorker(deps: BullmqWorkerDeps): CreationWorker {
  const { redis, prefix, name, concurrency, on } = deps;
  let inHand = 0;
  let idleSince = performance.now();
  let closing = false;

  const worker = new Worker<CreationJobData>(
    CREATIONS_QUEUE,
    async ({ id = '', name, data }) => {
      inHand++;
      try {
        const { commits, traceparent } = readCreationJob(id, data);
        if (commits.length === 0) {
          on.foreign({ id, name });
          throw new UnrecoverableError('no creation job: it names no commit');
        }
        await deps.process({ id, commits, traceparent });
      } finally {
        inHand--;
        idleSince = performance.now();
      }
    },
    {
      connection: redis,
      prefix,
      // A name of Redis' connections holds no white space.
      name: name.replace(/\s/g, '-'),
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALL_CHECK_MS,
      maxStalledCount: STALLS_MAX,
      runRetryDelay: RETRY_MS,
      // Also for a job whose own options Redis evicted: kept, its id would keep every later publication out.
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
