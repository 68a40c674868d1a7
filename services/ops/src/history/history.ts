import type { OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import type { Logger } from '@plant-store/platform/process/logger';
import { reasonOf } from '@plant-store/platform/process/reason';
import type { Observation } from '../monitor/monitor.ts';
import { createIntervals } from './intervals.ts';
import { createRecentSamples, type Samples } from './samples.ts';
import { createSystemEvents } from './system-events.ts';
import { createTimeline, type TimelineEvent } from './timeline.ts';

/** Interval for looking for actions of operators, which may come from another process. */
const ACTIONS_MS = 6_000;
const ACTIONS_MAX = 20;

/** The last hour of the system, kept by the console itself: gone when it restarts. */
export type History = {
  /** It must be given every reading, in order. */
  add: (observation: Observation) => void;
  /** Of all series, at the newest sample; empty before the first. */
  newest: () => readonly (number | null)[];
  /** Samples later than a time (ms since 1970). */
  samplesAfter: (time: number) => Samples;
  /** What happened, the newest first. */
  events: () => TimelineEvent[];
  /** Grows whenever the events change. */
  revision: () => number;
  /** Resolves at the next sample, or at `release`. */
  nextSample: () => Promise<void>;
  release: () => void;
};

export type HistorySources = {
  /** The newest actions of operators. It may reject. */
  actions: (entriesMax: number) => Promise<readonly OperatorEntry[]>;
  version: string;
  startedAt: Date;
};

export function createHistory(
  { actions, version, startedAt }: HistorySources,
  logger: Pick<Logger, 'warn'>,
): History {
  const intervals = createIntervals();
  const recent = createRecentSamples();
  const timeline = createTimeline();
  const system = createSystemEvents(timeline);
  let next = Promise.withResolvers<void>();
  let failures = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;

  timeline.add({
    id: 'console',
    kind: 'restart',
    level: 'busy',
    text: `this console started, version ${version}; it keeps no history from before`,
    at: startedAt.getTime(),
  });

  function release(): void {
    next.resolve();
    next = Promise.withResolvers<void>();
  }

  /**
   * Never rejects. The second failure in a row is logged: the first may be the beginning of an outage, which the status
   * reader logs and in which nobody looks.
   */
  async function lookForActions(): Promise<void> {
    if (performance.now() - lookedAt < ACTIONS_MS) return;
    lookedAt = performance.now();
    try {
      system.acted(await actions(ACTIONS_MAX));
      failures = 0;
    } catch (error) {
      failures++;
      if (failures === 2)
        logger.warn({ reason: reasonOf(error) }, 'the newest actions of operators cannot be shown');
    }
  }

  return {
    add(observation) {
      const { status } = observation;
      recent.add({ status, ...intervals(status.queue?.reports) });
      system.observe(observation);
      if (status.database !== undefined) void lookForActions();
      release();
    },
    newest: recent.newest,
    samplesAfter: recent.after,
    events: timeline.events,
    revision: timeline.revision,
    nextSample: () => next.promise,
    release,
  };
}
