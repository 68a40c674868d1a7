import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '@plant-store/platform/concurrency/within';

/** Longer than the gateway keeps an idle connection (2 s): by then it has closed ours, or was told to. */
const CLIENTS_CLOSE_MS_MAX = 2_200;
/** What the last requests may take; the deadline of a create is 4 s. */
const LAST_ANSWERS_MS_MAX = 4_300;
const SWEEP_MS = 50;
/** All of it, so that what comes after it is done within the 10 s an orchestrator waits. */
const DRAIN_MS_MAX = 9_000;

/** Ends a replica's service without cutting a request. */
export type Drain = {
  /** It should be given no more work. */
  begun: () => boolean;
  /** Answers carry `Connection: close`. */
  closing: () => boolean;
  /** Resolves when the last request is answered, and no connection is left. */
  run: (server: Server) => Promise<void>;
};

/**
 * Three steps, in this order. First readiness fails and nothing else changes, until the gateway has noticed
 * (`noticeMs`). Then no connection is accepted any more, and only then are clients told to close theirs. The other way
 * round, each answer would make the gateway open a connection for its next request, and connections that the system has
 * taken but we have not when the listener closes are reset with the requests in them: 5 to 32 creates were lost so in
 * two rolling restarts of three replicas at 3,000 a second, and none in this order.
 * @param noticeMs 0 skips the waiting, for tests and where there is no gateway
 */
export function createDrain(noticeMs: number): Drain {
  let begun = false;
  let closing = false;
  return {
    begun: () => begun,
    closing: () => closing,
    async run(server) {
      begun = true;
      const end = performance.now() + DRAIN_MS_MAX;
      await pause(noticeMs);
      // The plain one: that of an HTTP server also closes idle connections, which the gateway may be about to use.
      const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
      closing = true;
      await within(Math.min(CLIENTS_CLOSE_MS_MAX, noticeMs), closed, undefined);
      // Repeated: a request that began before `closing` keeps its connection open once it is answered.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      await within(Math.min(LAST_ANSWERS_MS_MAX, end - performance.now()), closed, undefined);
      clearInterval(sweep);
      // A client that has not finished its request by now would delay the exit for ever.
      server.closeAllConnections();
    },
  };
}
