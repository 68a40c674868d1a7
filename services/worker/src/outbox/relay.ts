import { setTimeout as pause } from 'node:timers/promises';
import type { CreationQueue } from './creation-queue.ts';
import { createMarkMemory, type DueCommit } from './mark-memory.ts';
import type { PendingMarks } from './pending-marks.ts';

/** A sweep looks at so many pages of marks, at one while jobs wait in crowds; the next one goes on where it ended. */
const PAGES_MAX = 10;
/** Commits remembered between sweeps: about 20 MB. */
const REMEMBERED_MAX = 100_000;
/** Rings fill the queue up to so many waiting jobs: what waits longer behind others has not been lost. */
const WAITING_JOBS_MAX = 5_000;
/** Rings of a sweep in any case, so that a commit whose job was lost is not hidden by a backlog. */
const RINGS_MIN = 100;
/** Rings sent together. */
const RING_PAGE = 250;
/** A commit that stays after so many rings may be held by the id of a lost job. */
const RINGS_BEFORE_RELEASE = 2;
const RELEASES_MAX = 50;
/** Failed jobs are driven again so often, and so many at a time; a poison plant's job fails as often. */
const RETRY_MS = 10_000;
const RETRIES_MAX = 500;
/** The longest pause, after errors. */
const PAUSE_MS_MAX = 10_000;
/** A sweep in flight is given so long at a close; ending it anywhere does no harm. */
const CLOSE_MS_MAX = 5_000;

export type RelayDeps = {
  marks: PendingMarks;
  queue: CreationQueue;
  intervalMs: number;
  ageMs: number;
  /** Monotonic milliseconds. */
  now: () => number;
  random: () => number;
  on: {
    swept: (pending: { plants: number; oldestMs: number }) => void;
    rang: (commits: number) => void;
    released: (commits: number) => void;
    retried: (jobs: number) => void;
    failed: (error: unknown) => void;
  };
};

/**
 * The other end of the outbox: rings again for commits whose plants have stayed pending, and drives every failed
 * creation job again, marks or no marks (without, a failed job with nothing pending would stay for ever). Whatever
 * Redis lost, comes back this way. Goes on until it is stopped, through every outage.
 */
export function startRelay(deps: RelayDeps): { close: () => Promise<void> } {
  const stop = new AbortController();
  const sweep = createSweep(deps);

  async function run(): Promise<void> {
    let pauseMs = deps.intervalMs;
    while (!stop.signal.aborted) {
      try {
        await sweep();
        pauseMs = deps.intervalMs;
      } catch (error) {
        deps.on.failed(error);
        pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
      }
      // Relays of several workers drift apart, so that they do not all ring at once.
      const jitter = 1 + deps.random() / 4;
      await pause(pauseMs * jitter, undefined, { signal: stop.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    close: () => {
      stop.abort();
      return Promise.race([running, pause(CLOSE_MS_MAX, undefined, { ref: false })]);
    },
  };
}

function createSweep({ marks, queue, ageMs, now, on }: RelayDeps): () => Promise<void> {
  const memory = createMarkMemory(ageMs, REMEMBERED_MAX);
  let position: string | undefined;
  let crowded = false;
  let retryAt = 0;

  return async () => {
    const due = await readMarks(crowded ? 1 : PAGES_MAX);
    const { waiting } = await queue.status();
    crowded = waiting > RINGS_MIN;
    await ring(due.slice(0, Math.max(RINGS_MIN, WAITING_JOBS_MAX - waiting)));
    if (now() >= retryAt) await retry();
  };

  async function readMarks(pagesMax: number): Promise<DueCommit[]> {
    const due: DueCommit[] = [];
    let plants = 0;
    for (let pages = 0; pages < pagesMax; pages++) {
      const page = await marks.page(position);
      due.push(...memory.saw(page.commits, now()));
      plants += page.plants;
      position = page.next;
      if (position === undefined) {
        memory.passed();
        break;
      }
    }
    on.swept({ plants, oldestMs: memory.oldestMs(now()) });
    return due;
  }

  async function ring(rings: readonly DueCommit[]): Promise<void> {
    const unheard = rings.filter((commit) => commit.rings >= RINGS_BEFORE_RELEASE).slice(0, RELEASES_MAX);
    const released = unheard.length === 0 ? 0 : await queue.releaseLost(unheard.map(({ commit }) => commit));
    if (released > 0) on.released(released);

    for (let start = 0; start < rings.length; start += RING_PAGE) {
      const page = new Map(
        rings.slice(start, start + RING_PAGE).map(({ commit, plants }) => [commit, plants]),
      );
      await queue.ring(page);
      memory.rang(page.keys(), now());
      on.rang(page.size);
    }
  }

  async function retry(): Promise<void> {
    const retried = await queue.retryFailed(RETRIES_MAX);
    retryAt = now() + RETRY_MS;
    if (retried > 0) on.retried(retried);
  }
}
