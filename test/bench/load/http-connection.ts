import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

export type HttpConnection = {
  /** One request at a time. Calls back with status and whole answer, or with undefined when the connection broke. */
  post: (body: string, answered: (status: number | undefined, answer?: Buffer) => void) => void;
  close: () => void;
};

/**
 * As much of HTTP/1.1 as a load generator needs: one path, kept connections, answers with a length. undici does all of
 * it at 40 to 80 µs of CPU a request, this at 11 to 20, as little as wrk: on a machine that it shares with what it
 * measures, that is what counts.
 */
export async function openConnection(url: URL, path: string, authorization: string): Promise<HttpConnection> {
  const socket = connect(Number(url.port), url.hostname);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.setNoDelay(true);
  const head =
    `POST ${path} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: ${authorization}\r\n` +
    'content-type: application/json\r\ncontent-length: ';

  let waiting: ((status: number | undefined, answer?: Buffer) => void) | undefined;
  let received: Buffer | undefined;
  const settle = (status: number | undefined) => {
    const answered = waiting;
    const answer = received;
    waiting = undefined;
    received = undefined;
    answered?.(status, answer);
  };
  socket.on('data', (chunk) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk]);
    const headBytes = received.indexOf(HEAD_END);
    if (headBytes < 0) return;
    const answer = received.toString('latin1', 0, headBytes);
    const length = /\r\ncontent-length: *(\d+)/i.exec(answer)?.[1];
    if (length === undefined) socket.destroy();
    else if (received.length >= headBytes + HEAD_END.length + Number(length))
      settle(Number(answer.slice(9, 12)));
  });
  socket.on('error', () => {});
  socket.on('close', () => settle(undefined));

  return {
    post: (body, answered) => {
      waiting = answered;
      if (socket.destroyed) settle(undefined);
      else socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
    },
    close: () => socket.destroy(),
  };
}
