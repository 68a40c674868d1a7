/** As long as the plots reach back. */
export const KEPT_MS = 3_600_000;
const EVENTS_MAX = 200;

/**
 * `outage`: a server or all workers are away. `pause`: of the queue. `finding`: anything else that is wrong.
 * `deploy`: a process runs another version than the one of its name before. `restart`: any other start or end of a
 * process. `action`: what an operator did, or was refused.
 */
export type EventKind = 'outage' | 'pause' | 'finding' | 'deploy' | 'restart' | 'action';

export type TimelineEvent = {
  /** Unique within this console's life. */
  id: string;
  kind: EventKind;
  level: 'good' | 'busy' | 'warn' | 'bad';
  text: string;
  /** Milliseconds since 1970, by this machine's clock. */
  at: number;
  /** Of what lasts: when it ended, or null as long as it goes on. Absent for what happened at one moment. */
  until?: number | null;
};

/** Something that lasts, by a key that stays the same as long as it does. */
export type Lasting = { key: string } & Omit<TimelineEvent, 'id' | 'until'>;

export type Timeline = {
  add: (event: TimelineEvent) => void;
  /** Everything that lasts now: begins what is new and ends what is no longer there. */
  lasting: (present: readonly Lasting[], now: number) => void;
  /** Of the last hour, and whatever goes on; the newest first. */
  events: () => TimelineEvent[];
  /** Grows whenever the events change. */
  revision: () => number;
};

/** The events of the last hour, at most 200, in memory. */
export function createTimeline(): Timeline {
  let events: TimelineEvent[] = [];
  let standing = new Map<string, TimelineEvent>();
  let sequence = 0;
  let revision = 0;

  function add(event: TimelineEvent): void {
    events = [...events, event].toSorted((a, b) => b.at - a.at).slice(0, EVENTS_MAX);
    revision++;
  }

  function end(event: TimelineEvent, now: number): void {
    events = events.map((each) => (each.id === event.id ? { ...each, until: now } : each));
    revision++;
  }

  function forget(now: number): void {
    const kept = events.filter(({ at, until }) => until === null || (until ?? at) > now - KEPT_MS);
    if (kept.length < events.length) revision++;
    events = kept;
  }

  return {
    add,
    lasting(present, now) {
      const next = new Map<string, TimelineEvent>();
      for (const { key, ...event } of present) {
        const known = standing.get(key);
        const begun = known ?? { ...event, id: `${key} ${++sequence}`, until: null };
        if (known === undefined) add(begun);
        next.set(key, begun);
      }
      for (const [key, event] of standing) if (!next.has(key)) end(event, now);
      standing = next;
      forget(now);
    },
    events: () => events,
    revision: () => revision,
  };
}
