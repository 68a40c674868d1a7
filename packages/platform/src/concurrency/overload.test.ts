import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Overload, watchOverload } from './overload.ts';

const SAMPLE_MS = 50;
let nowMs = 0;
let waitedMs = 0;
let changes: boolean[] = [];
let overload: Overload;

beforeEach(() => {
  vi.useFakeTimers();
  changes = [];
  overload = watchOverload({
    waitedMs: () => waitedMs,
    now: () => nowMs,
    onChange: (overloaded) => changes.push(overloaded),
  });
});
afterEach(() => {
  overload.close();
  vi.useRealTimers();
});

/** For so long the oldest work has waited for `waited`, and the event loop is late by `late` at each sample. */
function during(ms: number, { waited = 0, late = 0 } = {}): void {
  waitedMs = waited;
  for (let passed = 0; passed < ms; passed += SAMPLE_MS + late) {
    nowMs += SAMPLE_MS + late;
    vi.advanceTimersByTime(SAMPLE_MS);
  }
}

test('a burst that is worked off within a second is no overload, and neither is a short wait', () => {
  during(900, { waited: 500 });
  during(100);
  during(900, { waited: 500 });
  during(5_000, { waited: 190 });
  expect(changes).toEqual([]);
});

test('work that waits for longer than that is overload, until nothing was refused for two seconds', () => {
  during(1_100, { waited: 500 });
  expect(overload.isOverloaded()).toBe(true);
  for (let second = 0; second < 5; second++) {
    during(1_000);
    overload.refused();
  }
  during(1_900);
  expect(overload.isOverloaded()).toBe(true);
  during(200);
  expect(overload.isOverloaded()).toBe(false);
  expect(changes).toEqual([true, false]);
});

test('an event loop that keeps coming late is overload; one long pause is none', () => {
  during(3_000, { late: 3_000 });
  during(1_000);
  expect(changes).toEqual([]);
  during(1_500, { late: 250 });
  expect(changes).toEqual([true]);
});
