import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '@plant-store/platform/concurrency/within';

/** Longer than the gateway keeps an idle connection (2 s): within this time it closes its idle connections to us. */
const CLIENTS_CLOSE_MS_MAX = 2_200;
/** How long the last requests may take; the deadline of a create is 4 s. */
const LAST_ANSWERS_MS_MAX = 4_300;
const SWEEP_MS = 50;
/** The whole drain. The rest of the shutdown comes after it and must end within the 10 s an orchestrator waits. */
const DRAIN_MS_MAX = 9_000;

/** Stops a replica without cutting off a request. */
export type Drain = {
  /** The drain has begun: readiness fails. */
  begun: () => boolean;
  /** Responses carry `Connection: close` from now on. */
  closing: () => boolean;
  /** Resolves when no connection is left. After 9 s at most, connections that are left are cut. */
  run: (server: Server) => Promise<void>;
};

/**
 * Three steps, in this order:
 * 1. Readiness fails and nothing else changes, until the gateway has noticed (`noticeMs`).
 * 2. The listener closes: no new connection is accepted.
 * 3. Responses carry `Connection: close`, so clients close their connections.
 *
 * With steps 2 and 3 swapped, the gateway would open a new connection after each response. When the listener closes,
 * the kernel resets connections that are still in the accept queue, and the requests on them are lost: 5 to 32 creates
 * in two rolling restarts of three replicas at 3,000 a second. In this order none was lost.
 * @param noticeMs 0 skips the wait, for tests and where there is no gateway
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
      // `close` of the TCP server: that of the HTTP server also closes idle connections, which the gateway may be
      // about to use.
      const closed = new Promise<void>((resolve) => TcpServer.prototype.close.call(server, () => resolve()));
      closing = true;
      await within(Math.min(CLIENTS_CLOSE_MS_MAX, noticeMs), closed, undefined);
      // Repeated: a connection whose response began before `closing` stays open and idle after the response.
      const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
      await within(Math.min(LAST_ANSWERS_MS_MAX, end - performance.now()), closed, undefined);
      clearInterval(sweep);
      // A client that has not finished its request by now would delay the exit for ever.
      server.closeAllConnections();
    },
  };
}
