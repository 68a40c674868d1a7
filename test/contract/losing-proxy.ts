import { tcpProxy } from '../harness/network/tcp-proxy.ts';

export type LosingProxy = AsyncDisposable & { url: string; lost: () => number };

/** Passes bytes to a server, but loses the first `answers` answers: the connection is cut when one arrives. */
export async function losingProxy(target: string, answers: number): Promise<LosingProxy> {
  let lost = 0;
  const proxy = await tcpProxy(Number(new URL(target).port), ({ toServer, toClient, end }) => ({
    fromClient: toServer,
    fromServer: (answer) => {
      if (lost >= answers) return toClient(answer);
      lost++;
      end();
    },
  }));
  return { url: `http://127.0.0.1:${proxy.port}`, lost: () => lost, [Symbol.asyncDispose]: proxy.close };
}
