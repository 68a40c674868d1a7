import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
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

/** Streams of HTTP/2 on which the same request was sent. */
export type FloodOfStreams = AsyncDisposable & {
  /** How many answers of each status have begun. */
  answers: () => Readonly<Record<string, number>>;
  /** The headers of the last answer. */
  lastHeaders: () => IncomingHttpHeaders;
  /** Streams that were neither answered nor reset by the server. */
  held: () => number;
  /** Streams that the server has reset. */
  reset: () => number;
  /** Streams that have begun and not ended. */
  open: () => number;
};

type Streams = {
  sessions: number;
  /** On each session. */
  streams: number;
  request: OutgoingHttpHeaders;
  /** Sent with each request, which then does not end. */
  body?: string;
  /** No byte of an answer's body is ever asked for. */
  unread?: boolean;
};

export async function floodOfStreams(
  port: number,
  ca: string,
  { sessions, streams, request, body, unread = false }: Streams,
): Promise<FloodOfStreams> {
  const answers: Record<string, number> = {};
  const held = new Set<ClientHttp2Stream>();
  let reset = 0;
  let open = 0;
  let lastHeaders: IncomingHttpHeaders = {};
  const all: ClientHttp2Session[] = [];
  while (all.length < sessions) {
    const session = connectHttp2(`https://localhost:${port}`, {
      ca,
      ...(unread && { settings: { initialWindowSize: 0 } }),
    });
    all.push(session);
    session.on('error', () => {});
    await once(session, 'remoteSettings');
    for (let count = 0; count < streams; count++) {
      const stream = session.request(request, { endStream: body === undefined });
      held.add(stream);
      open++;
      stream.resume();
      stream.once('response', (headers) => {
        lastHeaders = headers;
        const { ':status': status = 'none' } = headers;
        answers[status] = (answers[status] ?? 0) + 1;
        held.delete(stream);
      });
      stream.on('error', () => {});
      stream.once('close', () => {
        open--;
        if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) reset++;
        held.delete(stream);
      });
      if (body !== undefined) stream.write(body);
    }
  }
  return {
    answers: () => answers,
    lastHeaders: () => lastHeaders,
    held: () => held.size,
    reset: () => reset,
    open: () => open,
    [Symbol.asyncDispose]: async () => {
      for (const session of all) session.destroy();
    },
  };
}
