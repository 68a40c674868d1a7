import { freshId } from '../../harness/api/post-plant.ts';
import { token } from '../../harness/api/tokens.ts';

/** A request, as what it changes about a good one, and the answer that is due. */
export type Case = RequestParts & {
  name: string;
  status: number;
  /** The catalogue's number; absent where the plant is created. */
  error?: number;
  /** What the message has to name. */
  message?: RegExp;
};

export type RequestParts = {
  method?: string;
  target?: string;
  /** Beside or instead of the good request's headers; `undefined` leaves one out. */
  headers?: Record<string, string | undefined>;
  /** Text in which ID stands for an id that nobody has used, or bytes as they are. */
  body?: string | Buffer;
  /** Changes the whole request, one character a byte. */
  edit?: (request: string) => string;
};

/** The request's bytes; of a good one, when nothing is changed. */
export function render({
  method = 'POST',
  target = '/plants',
  headers = {},
  body,
  edit,
}: RequestParts): Buffer {
  const content = typeof body === 'object' ? body : Buffer.from(plantText(body));
  const all: Record<string, string | undefined> = {
    Host: 'plants.test',
    Authorization: `Bearer ${token()}`,
    'Content-Type': 'application/json',
    'Content-Length': String(content.length),
    ...headers,
  };
  const lines = Object.entries(all).filter(([, value]) => value !== undefined);
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const request = `${method} ${target} HTTP/1.1\r\n${head}\r\n${content.toString('latin1')}`;
  return Buffer.from(edit === undefined ? request : edit(request), 'latin1');
}

function plantText(body = '{"id":ID,"name":"Monstera"}'): string {
  return body.replace('ID', String(freshId()));
}
