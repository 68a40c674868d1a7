import { once } from 'node:events';
import { connect } from 'node:net';
import { underLoadMs } from '../wait-for.ts';

export type RawAnswer = {
  status: number;
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>;
  body: string;
};

/** A connection on which bytes are sent as they are, which no HTTP client would do. */
export type RawConnection = AsyncDisposable & {
  send: (bytes: string | Buffer) => void;
  /**
   * The next final answer; interim ones (1xx) are skipped. An answer to HEAD has no body, whatever its Content-Length.
   * @throws Error with the bytes that did arrive when the connection ends or the time is over before.
   */
  answer: (options?: { head?: boolean; withinMs?: number }) => Promise<RawAnswer>;
  /** Resolves to what arrived and was read by nobody, once the server has ended the connection. */
  ended: (withinMs?: number) => Promise<string>;
  closed: Promise<void>;
  /** Resets the connection, as a client that crashes does. */
  reset: () => void;
};

const ANSWER_MS_MAX = 8_000;

/** @param options.allowHalfOpen whether bytes can be sent after the server has ended its side */
export async function rawConnection(
  url: string,
  { allowHalfOpen = false }: { allowHalfOpen?: boolean } = {},
): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen });
  await once(socket, 'connect');
  socket.setNoDelay(true);

  let unread = Buffer.alloc(0);
  let over = false;
  let notify = () => {};
  const onEnd = () => {
    over = true;
    notify();
  };
  socket.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    notify();
  });
  socket.on('end', onEnd);
  socket.on('close', onEnd);
  // A reset ends the connection as a close does.
  socket.on('error', onEnd);
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
  });

  /** Tries again whenever bytes or the end arrive. */
  async function read<T>(attempt: () => T | undefined, withinMs: number): Promise<T> {
    const limitMs = underLoadMs(withinMs);
    const deadline = performance.now() + limitMs;
    for (;;) {
      const result = attempt();
      if (result !== undefined) return result;
      const left = deadline - performance.now();
      if (over || left <= 0) {
        const why = over ? 'the connection ended' : `nothing more within ${limitMs} ms`;
        throw new Error(`${why} after ${JSON.stringify(unread.toString('latin1'))}`);
      }
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, left);
        notify = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
  }

  return {
    send(bytes) {
      if (socket.writable) socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    },
    answer({ head = false, withinMs = ANSWER_MS_MAX } = {}) {
      const attempt = () => {
        const parsed = firstAnswer(unread, head);
        if (parsed !== undefined) unread = unread.subarray(parsed.length);
        return parsed?.answer;
      };
      return read(attempt, withinMs);
    },
    ended: (withinMs = ANSWER_MS_MAX) => read(() => (over ? unread.toString('latin1') : undefined), withinMs),
    closed,
    reset: () => void socket.resetAndDestroy(),
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      await closed;
    },
  };
}

/** Sends a request on a connection of its own and reads the answer. */
export async function exchange(
  url: string,
  request: string | Buffer,
  options?: { head?: boolean; withinMs?: number },
): Promise<RawAnswer> {
  await using connection = await rawConnection(url);
  connection.send(request);
  return await connection.answer(options);
}

/** The final answer at the beginning of the bytes, once it is whole, and how long it is with what precedes it. */
function firstAnswer(bytes: Buffer, head: boolean): { answer: RawAnswer; length: number } | undefined {
  let position = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', position);
    if (end < 0) return undefined;
    const { status, headers } = parseHead(bytes.toString('latin1', position, end));
    position = end + 4;
    if (status < 200) continue;
    const length = position + (head ? 0 : Number(headers.get('content-length') ?? 0));
    if (bytes.length < length) return undefined;
    return { answer: { status, headers, body: bytes.toString('utf8', position, length) }, length };
  }
}

function parseHead(head: string): { status: number; headers: Map<string, string> } {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`no HTTP answer: ${JSON.stringify(head)}`);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status, headers: new Map(headers) };
}
