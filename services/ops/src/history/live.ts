import { Readable } from 'node:stream';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { sessionLasts } from '../access/sessions.ts';
import { Refusal } from '../http/failures.ts';
import type { Monitor } from '../monitor/monitor.ts';
import { statusWords } from '../status/status-words.ts';
import type { History } from './history.ts';
import { timelineWords } from './timeline-words.ts';

/** Open pages, hidden ones not counted: they hold no stream. */
const STREAMS_MAX = 100;
/** Of one session, so that one person's pages leave room for everybody else's. */
const SESSION_STREAMS_MAX = 10;
/** A stream ends after this time; the browser opens the next one by itself. */
const STREAM_MS_MAX = 10 * 60_000;
/** What the browser waits for before it opens the next one. */
const RETRY_MS = 2_000;

/** Cuts a stream that has not ended by itself, since its client reads too slowly. */
const CUT_MS = STREAM_MS_MAX + 30_000;

/**
 * The pages' figures as server-sent events: first the samples that a page does not have, then every new one with the
 * status in words. A client that reads slowly gets fewer and larger messages, so nothing piles up here.
 */
export const live: FastifyPluginAsync<{ monitor: Monitor; history: History }> = async (
  app,
  { monitor, history },
) => {
  /** The session of each stream that is open. */
  const open = new Map<FastifyRequest, string>();
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
    history.release();
  });

  app.get<{ Querystring: { after?: string } }>(
    '/live',
    { handlerTimeout: CUT_MS, exposeHeadRoute: false },
    (request, reply) => {
      const { sessionId } = request.session;
      const own = [...open.values()].filter((session) => session === sessionId).length;
      const most =
        own >= SESSION_STREAMS_MAX ? SESSION_STREAMS_MAX : open.size >= STREAMS_MAX ? STREAMS_MAX : undefined;
      if (most !== undefined) {
        throw new Refusal(503, `${most} pages are open: this one is refreshed now and then.`);
      }
      open.set(request, sessionId);
      reply.raw.once('close', () => open.delete(request));
      return reply
        .type('text/event-stream')
        .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no', connection: 'close' })
        .send(Readable.from(messages(request), { objectMode: false }));
    },
  );

  async function* messages(request: FastifyRequest): AsyncGenerator<string> {
    const endsAt = performance.now() + STREAM_MS_MAX;
    let after = lastSeen(request);
    let revision: number | undefined;
    yield `retry: ${RETRY_MS}\n\n`;
    while (!closing) {
      if (!(await sessionLasts(request))) {
        yield 'event: signed-out\ndata: .\n\n';
        return;
      }
      if (performance.now() >= endsAt) return;
      const observation = await monitor.current();
      const samples = history.samplesAfter(after);
      after = samples.at.at(-1) ?? after;
      const hasNews = revision !== history.revision();
      revision = history.revision();
      const data = {
        status: statusWords(observation, new Date()),
        samples,
        ...(hasNews && { events: timelineWords(history.events()) }),
      };
      yield `id: ${after}\ndata: ${JSON.stringify(data)}\n\n`;
      await history.nextSample();
    }
  }
};

/** The time of the newest sample that the page has: 0 when it has none. */
function lastSeen({ headers, query }: FastifyRequest): number {
  const asked = headers['last-event-id'] ?? (query as { after?: string }).after;
  const time = Number(asked);
  return Number.isFinite(time) ? time : 0;
}
