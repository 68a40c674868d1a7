import { createServer } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections (Linux: from 32768): one of those could take the port of a
 * server that is just being started again, even the connection of a client that is trying to reach it.
 */
const RANGE = { first: 15_000, count: 17_000 };
/** Processes that look at the same time begin at different places. */
const STRIDE = 41;

let next = (process.pid * STRIDE) % RANGE.count;

/** A port of 127.0.0.1 that nothing listens on; never the same twice in one process, until all have been tried. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < RANGE.count; tried++) {
    const port = RANGE.first + next;
    next = (next + 1) % RANGE.count;
    if ((await listenFailure('127.0.0.1', port)) === undefined) return port;
  }
  throw new Error(`no port from ${RANGE.first} on is free`);
}

/** Listens for a moment. The error's code when that is refused, as EADDRINUSE. */
export function listenFailure(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen(port, host, () => server.close(() => resolve(undefined)));
  return promise;
}
