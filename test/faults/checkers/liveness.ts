import { type Attempt, type History, uncontested } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** No request takes longer under any single fault (L1). */
const ANSWER_MS_MAX = 5_000;
/**
 * With Redis away p99 stays within twice the usual (L3). Below this much a machine that runs servers, processes and load
 * on few cores makes the difference, so the matrix notices only creates that wait for Redis; p99
 * itself is a figure of the benchmark.
 */
const P99_MS_FLOOR = 1_000;

/** How long something may take on this machine that takes at most `ms` on one without other work. */
export type Bound = (ms: number) => number;

/** @param lagMs how long the harness itself was late at worst, which its clients cannot tell from a late answer */
export function checkAnswerTimes(history: History, lagMs: number, bound: Bound): Violation[] {
  const answerMsMax = bound(ANSWER_MS_MAX) + lagMs;
  const slow = history.operations.filter(({ attempts }) =>
    attempts.some((attempt) => attempt.hungUp !== true && durationMs(attempt) > answerMsMax),
  );
  const [worst] = slow.toSorted((a, b) => slowestMs(b.attempts) - slowestMs(a.attempts));
  if (worst === undefined) return [];
  const found = `${slow.length} requests took over ${Math.round(answerMsMax)} ms, the longest ${Math.round(slowestMs(worst.attempts))} ms`;
  return [{ invariant: 'L1', found, history: [worst] }];
}

/** Creates stay 200 throughout, and hardly slower than before the fault (L3). */
export function checkUndisturbed(history: History, fromMs: number, toMs: number, bound: Bound): Violation[] {
  const violations: Violation[] = [];
  const creates = uncontested(history);
  const failed = creates.filter(({ attempts }) =>
    attempts.some(({ outcome, hungUp }) => outcome !== 'ok' && hungUp !== true),
  );
  if (failed[0] !== undefined) {
    const found = `${failed.length} creates were not answered 200, though only Redis was disturbed`;
    violations.push({ invariant: 'L3', found, history: failed.slice(0, 3) });
  }
  const attempts = creates.flatMap((create) => create.attempts);
  const usual = percentileMs(
    attempts.filter(({ endedMs }) => endedMs < fromMs),
    0.99,
  );
  const during = percentileMs(
    attempts.filter(({ invokedMs }) => invokedMs >= fromMs && invokedMs < toMs),
    0.99,
  );
  if (during > Math.max(2 * usual, bound(P99_MS_FLOOR))) {
    const found = `p99 was ${Math.round(during)} ms under the fault and ${Math.round(usual)} ms before`;
    violations.push({ invariant: 'L3', found, history: [] });
  }
  return violations;
}

const durationMs = ({ invokedMs, endedMs }: Attempt) => endedMs - invokedMs;

export function slowestMs(attempts: readonly Attempt[]): number {
  return Math.max(0, ...attempts.filter(({ hungUp }) => hungUp !== true).map(durationMs));
}

/** 0 where there is none. */
function percentileMs(attempts: readonly Attempt[], part: number): number {
  const sorted = attempts.map(durationMs).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
