import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';

/** Many connections on which the same bytes were sent. */
export type Flood = AsyncDisposable & {
  /** How many answers of each status have arrived. */
  answers: () => Readonly<Record<string, number>>;
  /** Connections that were neither answered nor ended by the server. */
  held: () => number;
  /** Sends the rest on those. */
  send: (bytes: string) => void;
};

/** @param bytes what each connection sends at once, by its number. */
export async function flood(
  port: number,
  count: number,
  bytes: string | ((connection: number) => string),
): Promise<Flood> {
  const answers: Record<string, number> = {};
  const held = new Set<Socket>();
  const all = Array.from({ length: count }, (_, connection) =>
    open(typeof bytes === 'string' ? bytes : bytes(connection)),
  );
  await Promise.all(all.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));

  function open(request: string): Socket {
    const socket = connect(port, '127.0.0.1');
    held.add(socket);
    socket.write(request);
    socket.once('data', (chunk) => {
      const status = /^HTTP\/1\.1 (\d{3}) /.exec(chunk.toString('latin1'))?.[1] ?? 'none';
      answers[status] = (answers[status] ?? 0) + 1;
      held.delete(socket);
    });
    socket.on('error', () => {});
    socket.once('close', () => held.delete(socket));
    return socket;
  }

  return {
    answers: () => answers,
    held: () => held.size,
    send: (rest) => {
      for (const socket of held) socket.write(rest);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(
        all.filter(({ closed }) => !closed).map((socket) => once(socket.destroy(), 'close').catch(() => {})),
      );
    },
  };
}

/** Streams of HTTP/2 whose heads are large and whose bodies, of the most that is allowed, never end. */
export async function floodOfStreams(
  port: number,
  ca: string,
  { sessions, streams }: { sessions: number; streams: number },
): Promise<Pick<Flood, 'held'> & AsyncDisposable> {
  let held = 0;
  const open: ClientHttp2Session[] = [];
  while (open.length < sessions) {
    const session = connectHttp2(`https://localhost:${port}`, { ca });
    open.push(session);
    session.on('error', () => {});
    await once(session, 'remoteSettings');
    for (let count = 0; count < streams; count++) {
      held++;
      const stream = session.request({
        ':method': 'POST',
        ':path': '/plants',
        'content-length': 65_536,
        'x-pad-1': 'x'.repeat(7_000),
        'x-pad-2': 'y'.repeat(7_000),
      });
      stream.once('response', () => held--);
      stream.on('error', () => {});
      stream.write('x'.repeat(65_000));
    }
  }
  return {
    held: () => held,
    [Symbol.asyncDispose]: async () => {
      for (const session of open) session.destroy();
    },
  };
}
