import { expect, test } from 'vitest';
import { eventsModel } from './events-model.ts';
import { eventsRuns } from './events-runs.ts';
import { type Exploration, explore, type Model } from './explore.ts';
import { storageModel } from './storage-model.ts';
import { storageRuns } from './storage-runs.ts';

/** Far more states than any run here has: the bound ends a model that has grown beyond its scope. */
const STATES_MAX = 1_000_000;
const RUN_MS_MAX = 300_000;

const runs = [
  ...storageRuns.map((run) => ({ ...run, explore: () => explore(storageModel(run.deviation), STATES_MAX) })),
  ...eventsRuns.map((run) => ({ ...run, explore: () => explore(eventsModel(run.deviation), STATES_MAX) })),
].filter(({ long }) => long !== true);

const holding = runs.filter(({ breaks }) => breaks === undefined);
const breaking = runs.filter(({ breaks }) => breaks !== undefined);

test.each(holding)(
  '$name: every invariant holds in every state, and every state can end',
  { timeout: RUN_MS_MAX },
  (run) => {
    const { violation, trace, complete, doneStates } = run.explore();
    expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
    expect(complete).toBe(true);
    expect(doneStates).toBeGreaterThan(0);
  },
);

test.each(breaking)('$name: breaks $breaks, with a trace', { timeout: RUN_MS_MAX }, ({ breaks, explore }) => {
  const { violation, trace } = explore();
  expect(violation).toContain(breaks);
  expect(trace.length).toBeGreaterThan(1);
});

/** A clock that a fault may stop: it strikes twelve unless it was stopped. */
const clock = (restarts: boolean): Model<{ hour: number; stopped: boolean }> => ({
  initial: { hour: 0, stopped: false },
  keyOf: ({ hour, stopped }) => `${hour}${stopped}`,
  *steps({ hour, stopped }) {
    if (!stopped && hour < 12)
      yield { label: `strikes ${hour + 1}`, fault: false, next: { hour: hour + 1, stopped } };
    if (!stopped) yield { label: 'is stopped', fault: true, next: { hour, stopped: true } };
    if (stopped && restarts) yield { label: 'is started', fault: false, next: { hour, stopped: false } };
  },
  broken: ({ hour }) => (hour > 12 ? 'beyond twelve' : undefined),
  done: ({ hour, stopped }) => hour === 12 && !stopped,
});

test('the exploration counts every state once, and finds the state from which nothing ends', () => {
  expect(explore(clock(true), 100)).toMatchObject({
    states: 26,
    complete: true,
    violation: undefined,
    doneStates: 1,
  });
  expect(explore(clock(false), 100)).toMatchObject({ violation: 'stuck', trace: ['is stopped'] });
});

test('the exploration gives the shortest trace to a broken invariant, and says when it saw too little', () => {
  const strict: Model<{ hour: number; stopped: boolean }> = {
    ...clock(true),
    broken: ({ hour }) => (hour === 2 ? 'struck two' : undefined),
  };
  const found: Exploration = explore(strict, 100);
  expect(found).toMatchObject({ violation: 'struck two', trace: ['strikes 1', 'strikes 2'] });
  expect(explore(clock(true), 5)).toMatchObject({ complete: false, violation: undefined });
});
