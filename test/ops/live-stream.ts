import { SERIES } from '../../services/ops/src/history/plots.ts';
import type { EventWords } from '../../services/ops/src/history/timeline-words.ts';
import type { StatusWords } from '../../services/ops/src/status/status-words.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { RunningConsole } from './running-console.ts';
import type { Visitor } from './visitor.ts';

type Message = {
  id: number;
  status: StatusWords;
  samples: { at: number[]; values: (number | null)[][] };
  events?: EventWords[];
};

/** The stream that a page holds. */
export type LiveStream = AsyncDisposable & {
  status: number;
  type: string | null;
  messages: readonly Message[];
  /** The console has said that the session is over. */
  signedOut: () => boolean;
  /** Resolves when the console has ended it. */
  ended: Promise<void>;
  /** All values of a series so far, gaps left out. */
  values: (series: string) => number[];
  /** The events as last sent. */
  events: () => EventWords[];
  /** Resolves once the values of a series are so. */
  until: (series: string, isSo: (values: number[]) => boolean) => Promise<void>;
  close: () => void;
};

const MESSAGE_MS_MAX = 20_000;

/** @param lastEventId what a browser sends that goes on from there */
export async function openLive(
  { url }: Pick<RunningConsole, 'url'>,
  { cookie }: Pick<Visitor, 'cookie'>,
  lastEventId?: number,
): Promise<LiveStream> {
  const closing = new AbortController();
  const answer = await fetch(`${url}/live`, {
    signal: closing.signal,
    headers: {
      accept: 'text/event-stream',
      ...(cookie !== undefined && { cookie }),
      ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
    },
  });
  const messages: Message[] = [];
  let signedOut = false;

  async function read(): Promise<void> {
    let rest = '';
    for await (const text of (answer.body as ReadableStream<Uint8Array>).pipeThrough(
      new TextDecoderStream(),
    )) {
      const parts = (rest + text).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) take(part);
    }
  }
  function take(part: string): void {
    const fields = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/s)));
    if (fields['event'] === 'signed-out') signedOut = true;
    else if (fields['data'] !== undefined) {
      messages.push({ id: Number(fields['id']), ...JSON.parse(fields['data']) });
    }
  }

  const ended = answer.status === 200 ? read().catch(() => {}) : Promise.resolve();
  const values = (series: string) => {
    const index = SERIES.findIndex(({ id }) => id === series);
    return messages.flatMap(({ samples }) => samples.values[index] ?? []).filter((value) => value !== null);
  };
  const close = () => closing.abort();
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    messages,
    signedOut: () => signedOut,
    ended,
    values,
    events: () => messages.findLast(({ events }) => events !== undefined)?.events ?? [],
    until: async (series, isSo) => {
      await waitFor(() => isSo(values(series)), {
        withinMs: MESSAGE_MS_MAX,
        what: `the values of ${series}`,
      });
    },
    close,
    [Symbol.asyncDispose]: async () => {
      close();
      await ended;
    },
  };
}
