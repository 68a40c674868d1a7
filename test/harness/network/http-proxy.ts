import { type Tap, type TcpProxy, tcpProxy } from './tcp-proxy.ts';

export type HttpProxy = TcpProxy & {
  url: string;
  /** From now on requests pass and answers do not, until `releaseAnswers`. */
  holdAnswers: () => void;
  releaseAnswers: () => void;
};

/** A proxy before an HTTP server that can keep its answers from the clients. */
export async function httpProxy(port: number): Promise<HttpProxy> {
  let holding = false;
  const held: (() => void)[] = [];
  const tap: Tap = ({ toServer, toClient }) => ({
    fromClient: toServer,
    fromServer: (bytes) => (holding ? void held.push(() => toClient(bytes)) : toClient(bytes)),
  });
  const proxy = await tcpProxy(port, tap);
  return {
    ...proxy,
    url: `http://127.0.0.1:${proxy.port}`,
    holdAnswers: () => {
      holding = true;
    },
    releaseAnswers: () => {
      holding = false;
      for (const deliver of held.splice(0)) deliver();
    },
  };
}
