import { createServer } from 'node:net';
import getPort from 'get-port';

/**
 * Below the ports that systems give to outgoing connections (Linux: from 32768): one of those could take the port of a
 * server that is just being started again, even the connection of a client that is trying to reach it.
 */
const RANGE = { first: 15_000, count: 17_000 };
/** Processes that search at the same time begin at different places. */
const STRIDE = 41;

/** A port of 127.0.0.1 that nothing listens on; never the same twice in one process. */
export function freePort(): Promise<number> {
  return getPort({ host: '127.0.0.1', port: candidates(), reserve: true });
}

function* candidates(): Generator<number> {
  for (let index = 0; index < RANGE.count; index++) {
    yield RANGE.first + ((process.pid * STRIDE + index) % RANGE.count);
  }
}

/** Listens for a moment. Returns the code of the error when that fails, such as EADDRINUSE. */
export function listenFailure(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen(port, host, () => server.close(() => resolve(undefined)));
  return promise;
}
