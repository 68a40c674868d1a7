import { BSON } from 'mongodb';
import { createSteps, type HeldStep, type Step } from './steps.ts';
import { type Link, type Tap, type TcpProxy, tcpProxy } from './tcp-proxy.ts';

/** A command as it passed on its way to the server. */
export type SeenCommand = {
  name: string;
  /** The collection that it names first; undefined where it names none there. */
  collection: string | undefined;
  readonly body: BSON.Document;
};

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
  /** Holds the next command at this step, or the reply to it. */
  hold: (step: Step) => HeldStep;
  /** Commands of this name that the clients have sent. */
  seen: (command: string) => SeenCommand[];
};

/** MongoDB's wire protocol: 16 bytes of header, of which the first four are the whole length. */
const HEADER_BYTES = 16;
const OP_MSG = 2013;
const OP_QUERY = 2004;

/** A proxy before a mongod, named by its URL, that reads the messages and loses what it is told to lose. */
export async function mongoProxy(mongodbUrl: string): Promise<MongoProxy> {
  const { port, pathname } = new URL(mongodbUrl);
  const commands: SeenCommand[] = [];
  const plans = new Map<string, Fault[]>();

  const steps = createSteps();

  const tap: Tap = (link) => {
    const awaited = new Map<number, { command: SeenCommand; fault: Fault }>();
    let client = '';
    return {
      fromClient: messages((message) => {
        const command = commandOf(message);
        if (command === undefined) {
          client = introduced(message) ?? client;
          return link.toServer(message);
        }
        commands.push(command);
        const fault = plans.get(command.name)?.shift() ?? 'pass';
        if (fault === 'lose request') return link.end();
        link.keep('server');
        const pass = () => {
          awaited.set(message.readInt32LE(4), { command, fault });
          link.toServer(message);
          link.keep();
        };
        const { name, collection } = command;
        steps.meet({ command: name, collection, client, at: 'request' }, { pass, cut: link.end });
      }),
      fromServer: messages((message) => {
        const requestId = message.readInt32LE(8);
        const answered = awaited.get(requestId);
        awaited.delete(requestId);
        if (answered === undefined) return link.toClient(message);
        const { name, collection } = answered.command;
        link.keep('client');
        const pass = () => {
          deliver(link, message, answered.fault);
          link.keep();
        };
        steps.meet({ command: name, collection, client, at: 'reply' }, { pass, cut: link.end });
      }),
    };
  };

  function deliver(link: Link, message: Buffer, fault: Fault): void {
    if (fault === 'pass') link.toClient(message);
    else if (fault === 'lose reply') link.end();
    else if (fault === 'lose reply, then refuse') proxy.refuse();
  }

  const proxy = await tcpProxy(Number(port), tap);
  return {
    ...proxy,
    url: `mongodb://127.0.0.1:${proxy.port}${pathname}?directConnection=true`,
    plan: (command: string, ...faults: readonly Fault[]) => void plans.set(command, [...faults]),
    planned: () => [...plans.values()].flat(),
    hold: steps.hold,
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

/**
 * The name of the client, from the message with which the driver introduces itself on a new connection: as it does not
 * know the server yet, it is an old OP_QUERY (flags, name of a collection, two numbers, the document).
 */
function introduced(message: Buffer): string | undefined {
  if (message.readInt32LE(12) !== OP_QUERY) return undefined;
  const start = message.indexOf(0, HEADER_BYTES + 4) + 1 + 8;
  return BSON.deserialize(message.subarray(start))['client']?.application?.name;
}

/** BSON's type of a string element. */
const STRING = 2;

/**
 * The command in an OP_MSG: its name is the first key of the first section, behind the flags and the kind. Only name and
 * collection are read at once; the rest is when somebody asks for it.
 */
function commandOf(message: Buffer): SeenCommand | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  const start = HEADER_BYTES + 5;
  const nameAt = start + 5;
  const nameEnd = message.indexOf(0, nameAt);
  const valueAt = nameEnd + 5;
  const isString = message[start + 4] === STRING;
  return {
    name: message.toString('utf8', nameAt, nameEnd),
    collection: isString
      ? message.toString('utf8', valueAt, valueAt + message.readInt32LE(nameEnd + 1) - 1)
      : undefined,
    get body() {
      return BSON.deserialize(message.subarray(start, start + message.readInt32LE(start)), {
        useBigInt64: true,
      });
    },
  };
}
