import type { CreationQueue } from './creation-queue.ts';

/** Failed jobs looked at in a sweep; the next one goes on where it ended. */
const LISTED_MAX = 5_000;
/** Jobs retried in a sweep. */
const RETRIES_MAX = 500;
/** A job that has failed for the tenth time or so has little hope, and is retried this rarely. */
const PAUSE_MS_MAX = 600_000;

type Failure = { failedAt: string; retryAt: number; pass: number };

/**
 * Retries every failed creation job, pending plants or not (a failed job with nothing pending completes; nobody else
 * would look at it again): soon at first, then with pauses that double up to ten minutes, so that a plant that can
 * never be processed costs little. The number of attempts is kept by Redis, so that a restart does not forget it; the
 * pauses are measured by this process' clock.
 */
export function createRetries(
  queue: CreationQueue,
  firstPauseMs: number,
  now: () => number,
): { retryDue: () => Promise<number> } {
  const failures = new Map<string, Failure>();
  let position = 0;
  let pass = 0;

  /** Takes note of the failures in a page of the failed jobs, and forgets jobs that are no longer there. */
  async function look(): Promise<void> {
    const page = await queue.failed(position, LISTED_MAX);
    const failedAgain = page.filter(({ id, failedAt }) => failures.get(id)?.failedAt !== failedAt);
    const attempts = failedAgain.length === 0 ? [] : await queue.attempts(failedAgain.map(({ id }) => id));
    for (const [index, { id, failedAt }] of failedAgain.entries()) {
      const pauseMs = Math.min(firstPauseMs * 2 ** Math.max(0, (attempts[index] ?? 1) - 1), PAUSE_MS_MAX);
      failures.set(id, { failedAt, retryAt: now() + pauseMs, pass });
    }
    for (const { id } of page) (failures.get(id) as Failure).pass = pass;

    if (page.length === LISTED_MAX) {
      position += LISTED_MAX;
      return;
    }
    for (const [id, failure] of failures) if (failure.pass !== pass) failures.delete(id);
    position = 0;
    pass++;
  }

  return {
    async retryDue() {
      await look();
      const due: string[] = [];
      for (const [id, { retryAt }] of failures) {
        if (retryAt <= now()) due.push(id);
        if (due.length === RETRIES_MAX) break;
      }
      const results = await Promise.all(due.map((id) => queue.retry(id)));
      for (const [index, id] of due.entries()) {
        const failure = failures.get(id) as Failure;
        // A job that is retried leaves the list, and fails anew or not at all.
        failure.retryAt = results[index] === 'foreign' ? Number.POSITIVE_INFINITY : now() + PAUSE_MS_MAX;
      }
      return results.filter((result) => result === 'retried' || result === 'split').length;
    },
  };
}
