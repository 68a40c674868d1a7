import { BSON } from 'mongodb';
import { type Link, type Tap, type TcpProxy, tcpProxy } from './tcp-proxy.ts';

/** A command as it passed on its way to the server. */
export type SeenCommand = { name: string; body: BSON.Document };

/**
 * What becomes of one command:
 * - `lose request`: the server never sees it, the connection is cut;
 * - `lose reply`: the server executes it, and the connection is cut instead of its reply;
 * - `lose reply, then refuse`: likewise, and no new connection is taken from then on;
 * - `swallow reply`: the server executes it, its reply never comes, the connection stays open.
 */
export type Fault = 'pass' | 'lose request' | 'lose reply' | 'lose reply, then refuse' | 'swallow reply';

export type MongoProxy = TcpProxy & {
  /** Address of the same database through the proxy, for clients that are to take no other way. */
  url: string;
  /** What becomes of the next commands of this name, in turn; those behind them pass. */
  plan: (command: string, ...faults: readonly Fault[]) => void;
  /** Planned faults that no command has met yet. */
  planned: () => Fault[];
  /** Commands of this name that the clients have sent. */
  seen: (command: string) => SeenCommand[];
};

/** MongoDB's wire protocol: 16 bytes of header, of which the first four are the whole length. */
const HEADER_BYTES = 16;
const OP_MSG = 2013;

/** A proxy before a mongod, named by its URL, that reads the messages and loses what it is told to lose. */
export async function mongoProxy(mongodbUrl: string): Promise<MongoProxy> {
  const { port, pathname } = new URL(mongodbUrl);
  const commands: SeenCommand[] = [];
  const plans = new Map<string, Fault[]>();

  const tap: Tap = (link) => {
    const awaited = new Map<number, Fault>();
    return {
      fromClient: messages((message) => {
        const command = commandOf(message);
        if (command === undefined) return link.toServer(message);
        commands.push(command);
        const fault = plans.get(command.name)?.shift() ?? 'pass';
        if (fault === 'lose request') return link.cut();
        awaited.set(message.readInt32LE(4), fault);
        link.toServer(message);
      }),
      fromServer: messages((message) => {
        const requestId = message.readInt32LE(8);
        const fault = awaited.get(requestId) ?? 'pass';
        awaited.delete(requestId);
        deliver(link, message, fault);
      }),
    };
  };

  function deliver(link: Link, message: Buffer, fault: Fault): void {
    if (fault === 'pass') link.toClient(message);
    else if (fault === 'lose reply') link.cut();
    else if (fault === 'lose reply, then refuse') void proxy.refuse();
  }

  const proxy = await tcpProxy(Number(port), tap);
  return {
    ...proxy,
    url: `mongodb://127.0.0.1:${proxy.port}${pathname}?directConnection=true`,
    plan: (command: string, ...faults: readonly Fault[]) => void plans.set(command, [...faults]),
    planned: () => [...plans.values()].flat(),
    seen: (command: string) => commands.filter(({ name }) => name === command),
  };
}

/** Cuts a stream of bytes into whole messages. */
function messages(take: (message: Buffer) => void): (bytes: Buffer) => void {
  let pending = Buffer.alloc(0);
  return (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (pending.length >= HEADER_BYTES && pending.length >= pending.readInt32LE(0)) {
      const message = pending.subarray(0, pending.readInt32LE(0));
      pending = pending.subarray(message.length);
      take(message);
    }
  };
}

/** The command in an OP_MSG: its name is the first key of the first section, behind the flags and the kind. */
function commandOf(message: Buffer): SeenCommand | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  const start = HEADER_BYTES + 5;
  const body = BSON.deserialize(message.subarray(start, start + message.readInt32LE(start)), {
    useBigInt64: true,
  });
  return { name: Object.keys(body)[0] as string, body };
}
