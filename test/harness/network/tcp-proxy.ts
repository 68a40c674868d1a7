import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One proxied connection. */
export type Link = {
  toServer: (bytes: Buffer) => void;
  toClient: (bytes: Buffer) => void;
  /** Ends it at both sides without a good-bye. */
  cut: () => void;
  /** Whether it stays open to the client when the server's side ends, because a message for the client is held. */
  linger: (isOn: boolean) => void;
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
  /** Cuts all connections; new ones are taken. */
  cut: () => void;
  /** Cuts all connections and refuses new ones, until `accept`. */
  refuse: () => Promise<void>;
  accept: () => Promise<void>;
  close: () => Promise<void>;
};

const straight: Tap = ({ toServer, toClient }) => ({ fromClient: toServer, fromServer: toClient });

/** A TCP proxy on a free port of this machine, in front of a server on another, through which a link is disturbed. */
export async function tcpProxy(targetPort: number, tap: Tap = straight): Promise<TcpProxy> {
  const links = new Set<Socket>();
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
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    const write = (socket: Socket) => (bytes: Buffer) => {
      inTime(() => {
        if (socket.writable) socket.write(bytes);
      });
    };
    let lingers = false;
    let isOver = false;
    const linger = (isOn: boolean) => {
      lingers = isOn;
      // What was held until now is still written.
      if (!isOn && isOver) client.end();
    };
    const { fromClient, fromServer } = tap({
      toServer: write(upstream),
      toClient: write(client),
      cut,
      linger,
    });
    client.on('data', fromClient);
    upstream.on('data', fromServer);
    for (const socket of [client, upstream]) {
      links.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {
        if (!lingers || socket !== upstream) cut();
      });
      socket.on('close', () => {
        links.delete(socket);
        inTime(() => {
          if (lingers && socket === upstream) isOver = true;
          else cut();
        });
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
    for (const socket of links) socket.destroy();
  };
  const refuse = async () => {
    if (!server.listening) return;
    server.close();
    cut();
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
    refuse,
    accept: () => listen(port),
    close: refuse,
    [Symbol.asyncDispose]: refuse,
  };
}
