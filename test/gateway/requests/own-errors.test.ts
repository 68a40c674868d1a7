import { type ErrorName, errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, type RawAnswer } from '../../harness/network/raw-http.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

type OddRequest = { what: string; request: string; status: number; name: ErrorName; head?: boolean };

const post = (...headers: string[]) =>
  `${['POST /plants HTTP/1.1', 'Host: a', ...headers].join('\r\n')}\r\n\r\n`;
const line = (first: string, ...headers: string[]) =>
  `${[first, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`;
const chunked = (size: string, data: string) =>
  `${post('Transfer-Encoding: chunked')}${size}\r\n${data}\r\n0\r\n\r\n`;

const malformed = { status: 400, name: 'malformedRequest' } as const;
const unknownPath = { status: 404, name: 'pathUnknown' } as const;
const wrongMethod = { status: 405, name: 'methodNotAllowed' } as const;
const tooLarge = { status: 400, name: 'bodyTooLarge' } as const;

const oddRequests: OddRequest[] = [
  { what: 'no request line', request: '\x01\x02nonsense\r\n\r\n', ...malformed },
  { what: 'no Host', request: 'POST /plants HTTP/1.1\r\nContent-Length: 0\r\n\r\n', ...malformed },
  {
    what: 'no Host in HTTP/1.0',
    request: 'POST /plants HTTP/1.0\r\nContent-Length: 0\r\n\r\n',
    ...malformed,
  },
  { what: 'two Hosts', request: post('Host: b', 'Content-Length: 0'), ...malformed },
  { what: 'a Host that is none', request: 'POST /plants HTTP/1.1\r\nHost: a/b\r\n\r\n', ...malformed },
  { what: 'a space before a colon', request: post('Content-Length : 0'), ...malformed },
  { what: 'a folded header', request: post('X-A: b', ' c', 'Content-Length: 0'), ...malformed },
  {
    what: 'both lengths',
    request: `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ...malformed,
  },
  { what: 'two lengths', request: `${post('Content-Length: 3', 'Content-Length: 4')}abcd`, ...malformed },
  { what: 'a negative length', request: post('Content-Length: -3'), ...malformed },
  { what: 'a bad chunk', request: chunked('zz', 'abc'), ...malformed },
  { what: 'an unknown transfer coding', request: post('Transfer-Encoding: gzip'), ...malformed },
  { what: 'an unknown version', request: line('POST /plants HTTP/3.0'), ...malformed },
  { what: 'a path above the root', request: line('POST /../plants HTTP/1.1'), ...malformed },
  { what: 'a NUL in the path', request: line('POST /plants%00 HTTP/1.1'), ...malformed },
  {
    what: 'an unknown expectation',
    request: post('Expect: cake', 'Content-Length: 0'),
    status: 417,
    name: 'malformedRequest',
  },
  {
    what: 'a request target that is too long',
    request: line(`POST /plants?${'x'.repeat(9_000)} HTTP/1.1`),
    status: 414,
    name: 'malformedRequest',
  },
  {
    what: 'a header that is too long',
    request: post(`X-Long: ${'x'.repeat(9_000)}`),
    status: 431,
    name: 'malformedRequest',
  },
  {
    what: 'headers that are too many',
    request: post(...Array.from({ length: 40 }, (_, i) => `X-${i}: ${'x'.repeat(1_000)}`)),
    status: 431,
    name: 'malformedRequest',
  },
  { what: 'an unknown path', request: line('POST /plant HTTP/1.1', 'Content-Length: 0'), ...unknownPath },
  { what: 'the root', request: line('GET / HTTP/1.1'), ...unknownPath },
  { what: 'a path below the known one', request: line('GET /plants/1 HTTP/1.1'), ...unknownPath },
  {
    what: 'an unknown path with a body over the limit',
    request: line('PUT /x HTTP/1.1', 'Content-Length: 1000000'),
    ...unknownPath,
  },
  { what: 'an unknown path with TRACE', request: line('TRACE /x HTTP/1.1'), ...unknownPath },
  { what: 'the error pages themselves', request: line('GET /-/malformed HTTP/1.1'), ...unknownPath },
  { what: 'GET', request: line('GET /plants HTTP/1.1'), ...wrongMethod },
  { what: 'HEAD', request: line('HEAD /plants HTTP/1.1'), ...wrongMethod, head: true },
  { what: 'OPTIONS', request: line('OPTIONS /plants HTTP/1.1'), ...wrongMethod },
  { what: 'TRACE', request: line('TRACE /plants HTTP/1.1'), ...wrongMethod },
  { what: 'an invented method', request: line('GROW /plants HTTP/1.1'), ...wrongMethod },
  {
    what: 'PUT with a body over the limit',
    request: line('PUT /plants HTTP/1.1', 'Content-Length: 1000000'),
    ...wrongMethod,
  },
  { what: 'a length over the limit', request: post('Content-Length: 65537'), ...tooLarge },
  { what: 'a chunked body over the limit', request: chunked('10001', 'x'.repeat(65_537)), ...tooLarge },
];

/** Everything that nothing of the product's own listeners may answer from outside. */
const operatorsPaths = [
  '/livez',
  '/readyz',
  '/metrics',
  '/status',
  '/ops',
  '/admin/queues',
  '/api/queues',
  '/docs',
  '/openapi.json',
];

describe.skipIf(installedNginx === undefined)('what the gateway refuses itself', () => {
  let upstream: Upstream;
  let gateway: RunningGateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ upstreams: [upstream.address] });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  const send = (request: string, head = false) => exchange(gateway.url, request, { head });

  test.each(oddRequests)(
    '$what is $status with the Error body of $name',
    async ({ request, status, name, head }) => {
      const answer = await send(request, head);
      expectError(answer, status, name, head);
      expect(answer.headers.get('allow')).toBe(status === 405 ? 'POST' : undefined);
      expect(answer.headers.get('retry-after')).toBeUndefined();
    },
  );

  test('none of these reached the API, and the next good request does', async () => {
    expect((await upstream.seen()).posts).toBe(0);
    const answer = await fetch(`${gateway.url}/plants`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(200);
    expect((await upstream.seen()).posts).toBe(1);
  });

  test.each(operatorsPaths)('%s is an unknown path on the public listener', async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await send(line(`${method} ${path} HTTP/1.1`, 'Content-Length: 0'));
      expectError(answer, 404, 'pathUnknown');
    }
  });

  test.each([
    { what: 'with its length', request: `${post('Content-Length: 65536')}${'x'.repeat(65_536)}` },
    { what: 'in one chunk', request: chunked('10000', 'x'.repeat(65_536)) },
    {
      what: 'in chunks of one byte',
      request: `${post('Transfer-Encoding: chunked')}${'1\r\nx\r\n'.repeat(65_536)}0\r\n\r\n`,
    },
  ])('a body of exactly 65536 bytes passes $what', async ({ request }) => {
    const answer = await send(request);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ bytes: 65_536 });
  });
});

function expectError(answer: RawAnswer, status: number, name: ErrorName, head = false): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  const { error, message } = errorCatalogue[name];
  if (head) expect(answer.body).toBe('');
  else expect(JSON.parse(answer.body)).toEqual({ error, message });
}
