import {
  CREATIONS_QUEUE,
  type CreationJobData,
  creationJob,
  isFullJob,
  type PendingCommit,
  type PLANTS_CREATED,
} from '@plant-store/contracts/creation-job';
import { lazyQueue } from '@plant-store/platform/redis/lazy-queue';
import type { Redis } from 'ioredis';

/** Commits of this long share a job: a job costs API, Redis and worker about as much CPU as storing ten plants does. */
const COLLECT_MS = 25;
/** Jobs on their way to Redis at once; beyond it they are left to the relay, so that a slow Redis costs no memory. */
const PUBLICATIONS_MAX = 64;

export type CreationPublisher = {
  publish: (commit: string, plants: number, traceparent: string | undefined) => void;
  /** Publishes what was collected and waits for it; each publication is bounded by the connection's command timeout. */
  close: () => Promise<void>;
};

export type PublisherEvents = {
  published: (commits: number) => void;
  leftToRelay: (commits: number, reason: unknown) => void;
  /** The queue's own errors, which say nothing about any job. */
  queueError: (error: unknown) => void;
};

/**
 * Publishes creation jobs. Never awaited and never fails: the plants of whatever is not published stay pending in the
 * database, and the relay publishes it.
 */
export function creationPublisher(redis: Redis, prefix: string, on: PublisherEvents): CreationPublisher {
  const queue = lazyQueue<CreationJobData, typeof PLANTS_CREATED>(
    CREATIONS_QUEUE,
    redis,
    prefix,
    on.queueError,
  );
  const publications = new Set<Promise<void>>();
  let collected: PendingCommit[] = [];
  let collectedTrace: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  function publishCollected(): void {
    clearTimeout(timer);
    timer = undefined;
    if (collected.length === 0) return;
    const commits = collected;
    const { name, data, opts } = creationJob(commits, collectedTrace);
    collected = [];
    collectedTrace = undefined;

    if (redis.status !== 'ready') {
      on.leftToRelay(commits.length, 'redis is unreachable');
      return;
    }
    if (publications.size >= PUBLICATIONS_MAX) {
      on.leftToRelay(commits.length, 'redis is slow');
      return;
    }
    const publication = queue
      .open()
      .add(name, data, opts)
      .then(
        () => on.published(commits.length),
        (error) => on.leftToRelay(commits.length, error),
      )
      .finally(() => publications.delete(publication));
    publications.add(publication);
  }

  return {
    publish(commit, plants, traceparent) {
      collected.push({ commit, plants });
      collectedTrace ??= traceparent;
      if (isFullJob(collected)) publishCollected();
      else timer ??= setTimeout(publishCollected, COLLECT_MS);
    },
    async close() {
      publishCollected();
      await Promise.all(publications);
      await queue.close();
    },
  };
}
