import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '@plant-store/platform/within';

/** Longer than the gateway keeps an idle connection (2 s): by then it has closed ours, or was told to. */
const LEAVE_MS_MAX = 2_200;
/** What the last requests may take; the deadline of a create is 4 s. */
const LAST_ANSWERS_MS_MAX = 4_300;
const SWEEP_MS = 50;
/** All of it, so that what comes after it is done within the 10 s an orchestrator waits. */
const DRAIN_MS_MAX = 9_000;

/** How a replica takes leave without cutting a request. */
export type Drain = {
  /** From now on it should be given no work. */
  begun: () => boolean;
  /** Answers carry `Connection: close`. */
  leaving: () => boolean;
  /** Resolves when the last request is answered, and no connection is left. */
  run: (server: Server) => Promise<void>;
};

/**
 * Three steps, in this order. First readiness fails and nothing else changes, for as long as it takes until everybody
 * has noticed (`noticeMs`). Then no connection is accepted any more, and only then are clients told to close theirs.
 * The other way round, each answer would make the gateway open a connection for its next request, and those which the
 * system has taken but we have not at the moment of closing are reset with the requests in them: 5 to 32 creates were
 * lost so in two rolling restarts of three replicas at 3,000 a second, and none this way.
 * @param noticeMs 0 skips the waiting, for tests and for whoever has no gateway.
 */
export function createDrain(noticeMs: number): Drain {
  let begun = false;
  let leaving = false;
  return {
    begun: () => begun,
    leaving: () => leaving,
    async run(server) {
      begun = true;
      const end = performance.now() + DRAIN_MS_MAX;
      await pause(noticeMs);
      // The plain one: that of an HTTP server also closes idle connections, which the gateway may be about to use.
      const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
      leaving = true;
      await within(Math.min(LEAVE_MS_MAX, noticeMs), closed, undefined);
      // Again and again: requests that began before we told so leave their connections open when they are answered.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      await within(Math.min(LAST_ANSWERS_MS_MAX, end - performance.now()), closed, undefined);
      clearInterval(sweep);
      // Who has not finished its request by now would hold the exit up for ever.
      server.closeAllConnections();
    },
  };
}
