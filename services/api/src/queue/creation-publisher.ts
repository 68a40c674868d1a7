import {
  CREATIONS_QUEUE,
  type CreationJobData,
  creationJob,
  isFullJob,
  type PendingCommit,
  type PLANTS_CREATED,
} from '@plant-store/contracts/creation-job';
import { lazyQueue } from '@plant-store/platform/redis/lazy-queue';
import { parentAmong, type Tracing } from '@plant-store/platform/tracing/tracing';
import type { Redis } from 'ioredis';

/**
 * Commits are collected for this long and published as one job: a job costs API, Redis and worker together about as
 * much CPU as storing ten plants. Longer than this saves little more and delays indexing.
 */
const COLLECT_MS = 50;
/** Jobs being sent to Redis at once. Further jobs are left to the relay, so that a slow Redis fills no memory. */
const PUBLICATIONS_MAX = 64;

export type CreationPublisher = {
  publish: (commit: string, plants: number, traceparent: string | undefined) => void;
  /** Publishes the collected commits and waits; the connection's command timeout bounds each publication. */
  close: () => Promise<void>;
};

export type PublisherEvents = {
  published: (commits: number) => void;
  leftToRelay: (commits: number, reason: unknown) => void;
  /** An error of the queue that belongs to no job. */
  queueError: (error: unknown) => void;
};

/**
 * Publishes creation jobs. `publish` is never awaited and never fails: plants whose commit is not published stay
 * pending in the database, and the relay publishes the commit later.
 */
export function creationPublisher(
  redis: Redis,
  prefix: string,
  on: PublisherEvents,
  tracing?: Tracing,
): CreationPublisher {
  const queue = lazyQueue<CreationJobData, typeof PLANTS_CREATED>(
    CREATIONS_QUEUE,
    redis,
    prefix,
    on.queueError,
  );
  const publications = new Set<Promise<void>>();
  let collected: PendingCommit[] = [];
  /** Trace contexts of the collected commits that have one. */
  let traces: string[] = [];
  let timer: NodeJS.Timeout | undefined;

  function publishCollected(): void {
    clearTimeout(timer);
    timer = undefined;
    if (collected.length === 0) return;
    const commits = collected;
    const { parent, others } = parentAmong(traces);
    // The job carries the context of one step, which links all commits: a context for each would double its size.
    const span = tracing?.start('publish plants.created', { kind: 'producer', parent, links: others });
    const { name, data, opts } = creationJob(commits, span?.traceparent ?? parent);
    collected = [];
    traces = [];
    const left = (reason: unknown) => {
      span?.end(reason);
      on.leftToRelay(commits.length, reason);
    };

    if (redis.status !== 'ready') {
      left(new Error('redis is unreachable'));
      return;
    }
    if (publications.size >= PUBLICATIONS_MAX) {
      left('redis is slow');
      return;
    }
    const publication = queue
      .open()
      .add(name, data, opts)
      .then(() => {
        span?.end();
        on.published(commits.length);
      }, left)
      .finally(() => publications.delete(publication));
    publications.add(publication);
  }

  return {
    publish(commit, plants, traceparent) {
      collected.push({ commit, plants });
      if (traceparent !== undefined) traces.push(traceparent);
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
