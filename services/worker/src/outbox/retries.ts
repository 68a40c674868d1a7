import type { CreationQueue } from './creation-queue.ts';

/** Failed jobs read in a sweep; the next sweep goes on where it ended. */
const LISTED_MAX = 5_000;
/** Jobs retried in a sweep. */
const RETRIES_MAX = 500;
/** The longest pause of a job that fails by itself: after about ten failures it will probably fail again. */
const PAUSE_MS_MAX = 600_000;
/** The longest pause of any other: what failed it may have ended, and 60 s later all plants must be processed (E1). */
const OTHERS_PAUSE_MS_MAX = 30_000;

type Failure = { failedAt: string; retryAt: number; pass: number };

/**
 * Retries every failed creation job, also one without pending plants: it then completes, and nothing else would remove
 * it. The first retry is soon; then the pauses double, up to ten minutes for a job that fails by itself, so that a plant
 * that can never be processed costs little. Redis stores the number of attempts, so a restart does not reset it; the
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

  /** Remembers the failures in a page of failed jobs, and forgets jobs that are no longer there. */
  async function look(): Promise<void> {
    const page = await queue.failed(position, LISTED_MAX);
    const failedAgain = page.filter(({ id, failedAt }) => failures.get(id)?.failedAt !== failedAt);
    const attempts = failedAgain.length === 0 ? [] : await queue.attempts(failedAgain.map(({ id }) => id));
    for (const [index, { id, failedAt }] of failedAgain.entries()) {
      const { made, failsByItself } = attempts[index] ?? { made: 1, failsByItself: false };
      const pauseMsMax = failsByItself ? PAUSE_MS_MAX : OTHERS_PAUSE_MS_MAX;
      const pauseMs = Math.min(firstPauseMs * 2 ** Math.max(0, made - 1), pauseMsMax);
      // Behind those that are due already: else 1,000 jobs that fail again and again may keep the others from their turn.
      failures.delete(id);
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
        // A retried job leaves the list of failed jobs; if it fails again, that is a new failure.
        failure.retryAt = results[index] === 'foreign' ? Number.POSITIVE_INFINITY : now() + PAUSE_MS_MAX;
      }
      return results.filter((result) => result === 'retried' || result === 'split').length;
    },
  };
}
