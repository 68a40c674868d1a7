import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One proxied connection. */
export type Link = {
  toServer: (bytes: Buffer) => void;
  toClient: (bytes: Buffer) => void;
  /** Ends it at both sides, without a good-bye. */
  end: () => void;
  /** Keeps a side open while a message for it is held, whatever ends the other one. Without an argument: none any more. */
  keep: (side?: 'client' | 'server') => void;
};

/** Sees the bytes of one connection and decides what to pass on; without one, everything is. */
export type Tap = (link: Link) => {
  fromClient: (bytes: Buffer) => void;
  fromServer: (bytes: Buffer) => void;
};

export type TcpProxy = AsyncDisposable & {
  port: number;
  /** Holds every byte back, of new connections too, until `resume`. */
  stall: () => void;
  resume: () => void;
  /** Every byte arrives so much later. */
  delay: (ms: number) => void;
  /** Cuts all connections, but not the side for which their tap keeps a message; new ones are taken. */
  cut: () => void;
  /** Cuts all connections likewise and refuses new ones, until `accept`. */
  refuse: () => void;
  accept: () => Promise<void>;
  close: () => Promise<void>;
};

const straight: Tap = ({ toServer, toClient }) => ({ fromClient: toServer, fromServer: toClient });

/** A TCP proxy on a free port of this machine, in front of a server on another, through which a link is disturbed. */
export async function tcpProxy(targetPort: number, tap: Tap = straight): Promise<TcpProxy> {
  const links = new Set<Pick<TcpProxy, 'cut'> & { end: () => void }>();
  let delayMs = 0;
  let stalled = false;
  const held: (() => void)[] = [];

  /** Now, later or once resumed; always in the order of arrival. */
  function inTime(deliver: () => void): void {
    if (stalled) held.push(deliver);
    else if (delayMs > 0) setTimeout(() => (stalled ? held.push(deliver) : deliver()), delayMs);
    else deliver();
  }

  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    const sockets = [client, upstream];
    let kept: Socket | undefined;
    const cut = () => {
      for (const socket of sockets) if (socket !== kept) socket.destroy();
    };
    const end = () => {
      for (const socket of sockets) socket.destroy();
    };
    const write = (socket: Socket) => (bytes: Buffer) => {
      inTime(() => {
        if (socket.writable) socket.write(bytes);
      });
    };
    const keep = (side?: 'client' | 'server') => {
      const before = kept;
      kept = side && (side === 'client' ? client : upstream);
      // What was held until now is still written.
      if (kept === undefined && sockets.some(({ destroyed }) => destroyed)) inTime(() => before?.end());
    };
    const { fromClient, fromServer } = tap({
      toServer: write(upstream),
      toClient: write(client),
      end,
      keep,
    });
    client.on('data', fromClient);
    // What is answered to a client that is gone concerns nobody.
    upstream.on('data', (bytes) => !client.destroyed && fromServer(bytes));
    const link = { cut, end };
    links.add(link);
    for (const socket of sockets) {
      socket.setNoDelay(true);
      socket.on('error', cut);
      socket.on('close', () => {
        if (sockets.every(({ destroyed }) => destroyed)) links.delete(link);
        inTime(cut);
      });
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  const cut = () => {
    for (const link of links) link.cut();
  };
  const close = async () => {
    for (const link of links) link.end();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return {
    port,
    stall: () => {
      stalled = true;
    },
    resume: () => {
      stalled = false;
      for (const deliver of held.splice(0)) deliver();
    },
    delay: (ms) => {
      delayMs = ms;
    },
    cut,
    refuse: () => {
      if (server.listening) server.close();
      cut();
    },
    accept: () => listen(port),
    close,
    [Symbol.asyncDispose]: close,
  };
}
