import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, rawConnection } from '../../harness/network/raw-http.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { type Seen, startUpstream, type Upstream } from '../harness/upstream.ts';

const MADE = /^[0-9a-f]{32}$/;

describe.skipIf(installedNginx === undefined)('what the API is told', () => {
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

  /** Sends a create with these header lines; what the API saw, by name, and the request id that came back. */
  async function create(
    ...lines: string[]
  ): Promise<{ seen: Map<string, string[]>; url: string; id: string }> {
    const head = ['POST /plants?x=1 HTTP/1.1', 'Host: plants.example', 'Content-Length: 2', ...lines];
    const answer = await exchange(gateway.url, `${head.join('\r\n')}\r\n\r\n{}`);
    const { headers, url } = JSON.parse(answer.body) as Seen;
    const seen = new Map<string, string[]>();
    for (let at = 0; at < headers.length; at += 2) {
      const name = (headers[at] as string).toLowerCase();
      seen.set(name, [...(seen.get(name) ?? []), headers[at + 1] as string]);
    }
    return { seen, url, id: answer.headers.get('x-request-id') ?? '' };
  }

  test.each(['a', 'Az09._-', 'x'.repeat(128)])(
    'a well-formed X-Request-Id (%s) is kept and returned',
    async (id) => {
      const { seen, id: returned } = await create(`X-Request-Id: ${id}`);
      expect(seen.get('x-request-id')).toEqual([id]);
      expect(seen.get('x-request-id-by')).toEqual(['client']);
      expect(returned).toBe(id);
    },
  );

  test.each([
    ['none', []],
    ['an empty one', ['X-Request-Id:']],
    ['one of 129 characters', [`X-Request-Id: ${'x'.repeat(129)}`]],
    ['one with a space', ['X-Request-Id: a b']],
    ['one with quotes', ['X-Request-Id: "a"']],
    ['one with a line of a log', ['X-Request-Id: a","status":200']],
    ['one beyond ASCII', ['X-Request-Id: \xe4']],
  ])('instead of %s an X-Request-Id is made, and returned once', async (_what, lines) => {
    const { seen, id } = await create(...lines);
    expect(id).toMatch(MADE);
    expect(seen.get('x-request-id')).toEqual([id]);
    expect(seen.get('x-request-id-by')).toEqual(['gateway']);
  });

  test('a client cannot claim that the gateway chose its id', async () => {
    const { seen } = await create('X-Request-Id: a', 'X-Request-Id-By: gateway', 'x-request-id-by: gateway');
    expect(seen.get('x-request-id-by')).toEqual(['client']);
  });

  test('two requests never get the same id', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await create()).id));
    expect(new Set(ids).size).toBe(50);
  });

  test('what a client claims about hops before it is overwritten or dropped', async () => {
    const { seen } = await create(
      'X-Forwarded-For: 192.0.2.1',
      'X-Forwarded-For: 192.0.2.2',
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Port: 1',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Server: evil',
      'X-Forwarded-Prefix: /evil',
      'X-Real-IP: 192.0.2.3',
      'Forwarded: for=192.0.2.4',
      'Via: 1.1 evil',
      'Proxy: http://evil.example',
    );
    expect(seen.get('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(seen.get('x-real-ip')).toEqual(['127.0.0.1']);
    expect(seen.get('x-forwarded-host')).toEqual(['plants.example']);
    expect(seen.get('x-forwarded-proto')).toEqual(['http']);
    expect(seen.get('x-forwarded-port')).toEqual([String(gateway.port)]);
    for (const name of ['x-forwarded-server', 'x-forwarded-prefix', 'forwarded', 'via', 'proxy']) {
      expect(seen.has(name), name).toBe(false);
    }
  });

  test('a trusted proxy in front names the client, and what comes before that one is not believed', async () => {
    await using behind = await startGateway({
      upstreams: [upstream.address],
      settings: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1 10.0.0.0/8' },
    });
    const answer = await fetch(`${behind.url}/plants`, {
      method: 'POST',
      headers: { 'x-forwarded-for': '192.0.2.9, 198.51.100.7, 10.1.2.3' },
    });
    const { headers } = (await answer.json()) as Seen;
    expect(headers[headers.indexOf('X-Forwarded-For') + 1]).toBe('198.51.100.7');
  });

  test('trace context and everything a create needs pass unchanged', async () => {
    const lines = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'vendor=value',
      authorization: 'Bearer a.b.c',
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': 'gzip',
      'idempotency-key': '"8e03978e"',
    };
    const { seen, url } = await create(...Object.entries(lines).map(([name, value]) => `${name}: ${value}`));
    for (const [name, value] of Object.entries(lines)) expect(seen.get(name), name).toEqual([value]);
    expect(seen.get('host')).toEqual(['plants.example']);
    expect(url).toBe('/plants?x=1');
  });

  test('Expect: 100-continue is answered by the gateway', async () => {
    await using connection = await rawConnection(gateway.url);
    connection.send(
      'POST /plants HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect((await connection.answer()).status).toBe(200);
  });
});
