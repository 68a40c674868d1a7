import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type LosingProxy = AsyncDisposable & { url: string; lost: () => number };

/** Passes bytes to a server, but loses the first `answers` answers: the connection is cut when one arrives. */
export async function losingProxy(target: string, answers: number): Promise<LosingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (answer) => {
      if (lost >= answers) {
        client.write(answer);
        return;
      }
      lost++;
      client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost: () => lost,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
