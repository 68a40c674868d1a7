import { setTimeout as pause } from 'node:timers/promises';
import { isFullJob, type PendingCommit } from '@plant-store/contracts/creation-job';
import { createBacklog } from './backlog.ts';
import type { CreationQueue } from './creation-queue.ts';
import type { PendingCommits } from './pending-commits.ts';
import { createPublicationMemory, type DueCommit } from './publication-memory.ts';
import { createRetries } from './retries.ts';

/** Pages of pending commits a sweep reads (one while workers are behind). The next sweep goes on where it ended. */
const PAGES_MAX = 10;
/** Commits remembered between sweeps: about 35 MB. */
const REMEMBERED_MAX = 200_000;
/** Commits that are looked up and published together. */
const PUBLISHED_AT_ONCE = 1_000;
/** The longest pause between sweeps, after errors. */
const PAUSE_MS_MAX = 10_000;
/** At shutdown, a running sweep has this long to finish; it may be interrupted at any point without harm. */
const CLOSE_MS_MAX = 5_000;

export type RelayDeps = {
  pending: PendingCommits;
  queue: CreationQueue;
  intervalMs: number;
  ageMs: number;
  /** Monotonic milliseconds. */
  now: () => number;
  random: () => number;
  on: {
    /** What a sweep saw: how many plants are pending, and for how long the oldest has been. */
    looked: (pending: { plants: number; oldestMs: number }) => void;
    published: (commits: number) => void;
    orphansRemoved: (jobs: number) => void;
    retried: (jobs: number) => void;
    swept: () => void;
    failed: (error: unknown) => void;
  };
};

/**
 * The outbox relay: publishes commits whose plants have stayed pending, and retries failed creation jobs. So jobs that
 * Redis lost are published again. It goes on through every outage until it is stopped.
 */
export function startRelay(deps: RelayDeps): { close: () => Promise<void> } {
  const stop = new AbortController();
  const sweep = createSweep(deps);

  async function sweepOnAndOn(): Promise<void> {
    let pauseMs = deps.intervalMs;
    while (!stop.signal.aborted) {
      try {
        await sweep();
        deps.on.swept();
        pauseMs = deps.intervalMs;
      } catch (error) {
        deps.on.failed(error);
        pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
      }
      // The pause is random, so that the relays of several workers do not all publish the same commits at once.
      const jitter = 1 + deps.random() / 4;
      await pause(pauseMs * jitter, undefined, { signal: stop.signal }).catch(() => {});
    }
  }

  const sweeping = sweepOnAndOn();
  return {
    close: () => {
      stop.abort();
      return Promise.race([sweeping, pause(CLOSE_MS_MAX, undefined, { ref: false })]);
    },
  };
}

function createSweep({ pending, queue, ageMs, now, on }: RelayDeps): () => Promise<void> {
  const memory = createPublicationMemory(ageMs, REMEMBERED_MAX);
  const backlog = createBacklog(queue, now);
  const retries = createRetries(queue, ageMs, now);
  let position: string | undefined;
  let behind = false;

  return async () => {
    // The queue is read first: a commit without a job then, and with pending plants afterwards, has lost its job.
    const queued = await lookAtQueue().catch((error: unknown) => ({ error }));
    const due = await lookAtPending(behind ? 1 : PAGES_MAX);
    if ('error' in queued) throw queued.error;

    behind = now() - queued.caughtUpTo > ageMs;
    await publish(
      due.filter(({ commit, dueAt }) => dueAt <= queued.caughtUpTo && !queued.inHand.has(commit)),
    );
    const retried = await retries.retryDue();
    if (retried > 0) on.retried(retried);
  };

  async function lookAtQueue() {
    const caughtUpTo = await backlog.caughtUpTo();
    const inHand = memory.anyDue(now()) ? await queue.commitsInHand() : new Set<string>();
    return { caughtUpTo, inHand };
  }

  async function lookAtPending(pagesMax: number): Promise<DueCommit[]> {
    const due: DueCommit[] = [];
    let plants = 0;
    for (let pages = 0; pages < pagesMax; pages++) {
      const page = await pending.page(position);
      due.push(...memory.saw(page.commits, now()));
      for (const commit of page.commits) plants += commit.plants;
      position = page.next;
      if (position === undefined) {
        memory.passed();
        break;
      }
    }
    on.looked({ plants, oldestMs: memory.oldestMs(now()) });
    return due;
  }

  /** A commit whose own job waits, is active or has failed is not published again: that job will process it. */
  async function publish(due: readonly DueCommit[]): Promise<void> {
    for (let start = 0; start < due.length; start += PUBLISHED_AT_ONCE) {
      const page = due.slice(start, start + PUBLISHED_AT_ONCE);
      const taken = await takenIds(page.map(({ commit }) => commit));
      const unpublished = page.filter(({ commit }) => !taken.has(commit));
      await queue.publish(asJobs(unpublished));
      memory.published(page, now());
      if (unpublished.length > 0) on.published(unpublished.length);
    }
  }

  /** A job in no list (Redis lost the entry) is never handed out. Such jobs are removed, so that their ids are free. */
  async function takenIds(commits: readonly string[]): Promise<ReadonlySet<string>> {
    const taken = await queue.taken(commits);
    if (taken.size === 0 || !(await queue.anyOrphaned([...taken]))) return taken;
    const removed = await queue.removeOrphaned();
    if (removed > 0) on.orphansRemoved(removed);
    return queue.taken([...taken]);
  }
}

/** Publishes the commits with as few jobs as possible. */
function asJobs(commits: readonly PendingCommit[]): PendingCommit[][] {
  const jobs: PendingCommit[][] = [];
  let job: PendingCommit[] = [];
  for (const { commit, plants } of commits) {
    if (job.length === 0) jobs.push(job);
    job.push({ commit, plants });
    if (isFullJob(job)) job = [];
  }
  return jobs;
}
