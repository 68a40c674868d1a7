import {
  CREATIONS_QUEUE,
  type CreationJob,
  creationJobId,
  creationJobOptions,
  PLANTS_CREATED,
} from '@plant-store/contracts/creation-job';
import { lazyQueue } from '@plant-store/platform/lazy-queue';
import type { Redis } from 'ioredis';

/** Rings in flight at once; beyond it a ring is left to the relay, so a slow Redis costs no memory. */
const RINGS_MAX = 256;

export type CreationAnnouncer = {
  announce: (commit: string, plants: number, traceparent: string | undefined) => void;
  /** Resolves when no ring is in flight; each is bounded by the connection's command timeout. */
  close: () => Promise<void>;
};

/**
 * Announces commits on the queue, one job each. Never awaited and never fails: whatever is not announced stays marked
 * in the database, and the relay rings for it.
 */
export function creationAnnouncer(
  redis: Redis,
  prefix: string,
  on: { announced: () => void; missed: (reason: unknown) => void },
): CreationAnnouncer {
  const queue = lazyQueue<CreationJob, typeof PLANTS_CREATED>(CREATIONS_QUEUE, redis, prefix, on.missed);
  const rings = new Set<Promise<unknown>>();

  return {
    announce(commit, plants, traceparent) {
      if (redis.status !== 'ready') return on.missed('redis is unreachable');
      if (rings.size >= RINGS_MAX) return on.missed('redis is slow');
      const job: CreationJob = {
        version: 1,
        commit,
        plants,
        ...(traceparent !== undefined && { traceparent }),
      };
      const ring = queue
        .open()
        .add(PLANTS_CREATED, job, { jobId: creationJobId(commit), ...creationJobOptions })
        .then(on.announced, on.missed)
        .finally(() => rings.delete(ring));
      rings.add(ring);
    },
    async close() {
      await Promise.all(rings);
      await queue.close();
    },
  };
}
