import { age } from '../status/figures.ts';
import type { EventKind, TimelineEvent } from './timeline.ts';

/** An event in words, ready to be shown, with its times for the plots. */
export type EventWords = TimelineEvent & {
  /** `restart`, `outage` and so on, as the list shows it. */
  kindText: string;
  /** `12:00:05`, in UTC. */
  when: string;
  /** `for 12 s`, `still`; empty for what happened at one moment. */
  lasted: string;
};

const kinds: Record<EventKind, string> = {
  outage: 'Outage',
  pause: 'Pause',
  finding: 'Finding',
  deploy: 'Deploy',
  restart: 'Process',
  action: 'Operator',
};

export function timelineWords(events: readonly TimelineEvent[]): EventWords[] {
  return events.map((event) => ({
    ...event,
    kindText: kinds[event.kind],
    when: new Date(event.at).toISOString().slice(11, 19),
    lasted: lastedWords(event),
  }));
}

function lastedWords({ at, until }: TimelineEvent): string {
  if (until === undefined) return '';
  return until === null ? 'goes on' : `for ${age(until - at)}`;
}
