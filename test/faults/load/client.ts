import { Agent, type IncomingMessage, request } from 'node:http';
import type { Attempt, History, Operation } from '../history/history.ts';

/** Twice what any caller waits at most (L1): whoever gets no answer until then is recorded with that duration. */
const ANSWER_MS_MAX = 10_000;

/** Where a request goes. */
export type Target = { name: string; url: string };

export type Client = {
  /** Sends the operation once more and records how that ended. */
  send: (operation: Operation, target: Target, accessToken: string, hangUp?: boolean) => Promise<Attempt>;
  close: () => void;
};

/** A client that keeps its connections. It never sends anything again by itself. */
export function createClient(history: History): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

  async function send(
    operation: Operation,
    target: Target,
    accessToken: string,
    hangUp = false,
  ): Promise<Attempt> {
    const invokedMs = history.now();
    const end = await exchange(agent, `${target.url}/plants`, operation, accessToken, hangUp);
    const attempt = { invokedMs, endedMs: history.now(), target: target.name, ...end };
    operation.attempts.push(attempt);
    return attempt;
  }

  return { send, close: () => agent.destroy() };
}

type End = Omit<Attempt, 'invokedMs' | 'endedMs' | 'target'>;

function exchange(
  agent: Agent,
  url: string,
  operation: Operation,
  accessToken: string,
  hangUp: boolean,
): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const body = Buffer.from(bodyOf(operation));
  const sent = request(url, {
    method: 'POST',
    agent,
    headers: {
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      'content-length': body.length,
      'idempotency-key': operation.key,
    },
  });
  const timer = setTimeout(() => sent.destroy(new Error('no answer')), ANSWER_MS_MAX);
  sent.on('error', (error: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    const isNeverSent = error.code === 'ECONNREFUSED';
    resolve({
      outcome: isNeverSent ? 'refused' : 'unknown',
      answer: error.code ?? error.message,
      ...(hangUp && { hungUp: true as const }),
    });
  });
  sent.on('response', (response) => {
    void read(response).then((end) => {
      clearTimeout(timer);
      resolve(end);
    });
  });
  sent.end(body, () => {
    if (hangUp) sent.destroy(new Error('hung up'));
  });
  return promise;
}

async function read(response: IncomingMessage): Promise<End> {
  const status = response.statusCode as number;
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { error?: number };
    if (status === 200) {
      const isReplay = response.headers['idempotency-replayed'] === 'true';
      return { outcome: 'ok', answer: JSON.stringify(body), ...(isReplay && { replayed: true as const }) };
    }
    const error = body.error as number;
    // 500 tells of a defect: nobody knows how far it had come.
    const isUnknown = error === 5002 || error === 5000;
    return { outcome: isUnknown ? 'unknown' : 'refused', answer: `${status} ${error}`, error };
  } catch (error) {
    return { outcome: 'unknown', answer: `${status}, then ${(error as Error).message}` };
  }
}

function bodyOf({ body, spelling, name, tag }: Operation): string {
  if (body !== undefined) return body;
  const fields = [`"id":${spelling}`, `"name":${JSON.stringify(name)}`];
  if (tag !== undefined) fields.push(`"tag":${JSON.stringify(tag)}`);
  return `{${fields.join(',')}}`;
}
