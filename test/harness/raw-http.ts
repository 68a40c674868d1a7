import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type RawAnswer = {
  status: number;
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>;
  body: string;
};

/** What came back on one connection, as far as it was waited for. */
export type Exchange = {
  /** Final answers, without the interim ones (1xx). */
  answers: RawAnswer[];
  /** Whether the server closed the connection after them. */
  closed: boolean;
  /** From the first byte sent to the last answer, in milliseconds. */
  ms: number;
};

export type ExchangeOptions = {
  /** How many answers to wait for; a connection that closes earlier ends the wait. */
  answers?: number;
  /** Answers to HEAD carry no body, whatever Content-Length says. */
  head?: boolean;
  /** Waits for the server to close the connection after the last answer. */
  untilClosed?: boolean;
  withinMs?: number;
};

/**
 * Sends bytes as they are, which no HTTP client would do, and reads the answers. Parts of `request` that are functions
 * are awaited between the writes, to send slowly or to look at what has come back so far.
 * @throws Error with what has arrived when the answers do not come in time.
 */
export async function exchange(
  url: string,
  request: string | Buffer | readonly (string | Buffer | (() => Promise<unknown>))[],
  { answers = 1, head = false, untilClosed = false, withinMs = 8_000 }: ExchangeOptions = {},
): Promise<Exchange> {
  const socket = await open(url);
  const started = performance.now();
  let received = Buffer.alloc(0);
  let closed = false;
  const reading = new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () =>
        reject(
          new Error(`no answer within ${withinMs} ms, only ${JSON.stringify(received.toString('latin1'))}`),
        ),
      withinMs,
    );
    const done = () => {
      clearTimeout(late);
      resolve();
    };
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (!untilClosed && parseAnswers(received, head).length >= answers) done();
    });
    socket.on('close', () => {
      closed = true;
      done();
    });
    // A reset ends the connection as a close does; 'close' follows.
    socket.on('error', () => {});
  });

  try {
    const sending = send(socket, Array.isArray(request) ? request : [request as string | Buffer]);
    await Promise.race([reading, sending.then(() => reading)]);
    return { answers: parseAnswers(received, head), closed, ms: performance.now() - started };
  } finally {
    socket.destroy();
  }
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  await once(socket, 'connect');
  return socket;
}

async function send(
  socket: Socket,
  parts: readonly (string | Buffer | (() => Promise<unknown>))[],
): Promise<void> {
  for (const part of parts) {
    if (typeof part === 'function') await part();
    else if (socket.writable) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
  }
}

/** The whole answers at the beginning of the bytes; all of ours carry Content-Length. */
function parseAnswers(bytes: Buffer, head: boolean): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let position = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', position);
    if (end < 0) return answers;
    const [statusLine = '', ...lines] = bytes.toString('latin1', position, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`no HTTP answer: ${JSON.stringify(statusLine)}`);
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    position = end + 4;
    if (status < 200) continue;
    const length = head ? 0 : Number(headers.get('content-length') ?? 0);
    if (bytes.length < position + length) return answers;
    answers.push({ status, headers, body: bytes.toString('utf8', position, position + length) });
    position += length;
  }
}
