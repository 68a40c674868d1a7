import { freePort } from '@plant-store/local/servers/free-port';
import { describe, expect, test } from 'vitest';
import { exchange, rawConnection } from '../../harness/network/raw-http.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { installedNginx, startGateway } from '../harness/running-gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

/** nginx gives up after 8 s what has not ended. */
const DRAIN_MS_MAX = 20_000;
const SECRET = 'eyJ0b3Atc2VjcmV0';

describe.skipIf(installedNginx === undefined)('the access log', () => {
  test('is one JSON object a request, with what a search for it needs', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({ upstreams: [upstream.address] });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await fetch(`${gateway.url}/plants`, {
      method: 'POST',
      body: '{}',
      headers: { 'x-request-id': 'find-me', traceparent, 'user-agent': 'a "quoted" \\ client' },
    });
    await exchange(gateway.url, '\x01nonsense\r\n\r\n');
    await exchange(gateway.url, 'GET /pl%22ants HTTP/1.1\r\nHost: a\r\n\r\n');

    const lines = await gateway.accessLog((lines) => lines.length === 3);
    // Each of nginx's workers writes its own in turn.
    const [created, malformed, unknown] = [200, 400, 404].map((code) =>
      lines.find(({ status }) => status === code),
    );
    expect(created).toMatchObject({
      service: 'gateway',
      reqId: 'find-me',
      client: '127.0.0.1',
      method: 'POST',
      path: '/plants',
      protocol: 'HTTP/1.1',
      status: 200,
      upstream: upstream.address,
      upstreamStatus: '200',
      traceparent,
      userAgent: 'a "quoted" \\ client',
    });
    expect(Date.parse(created?.['time'] as string)).toBeGreaterThan(Date.now() - 60_000);
    expect(created?.['seconds']).toBeTypeOf('number');
    expect(malformed).toMatchObject({ method: '', path: '', status: 400 });
    expect(unknown).toMatchObject({ method: 'GET', path: '/pl%22ants', status: 404 });
  });

  test('holds no token, query or body, and neither does standard error, also when requests fail', async () => {
    const requests = [
      `POST /plants?access_token=${SECRET} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${SECRET}\r\nContent-Length: 16\r\n\r\n${SECRET}`,
      `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization : Bearer ${SECRET}\r\nContent-Length: 0\r\n\r\n`,
      `POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: ${SECRET}\r\nCookie: ${SECRET}\r\n\r\n`,
      `GET /x?${SECRET}#${SECRET} HTTP/1.1\r\nHost: a\r\nReferer: http://a/?${SECRET}\r\n\r\n`,
    ];
    await using upstream = await startUpstream();
    for (const address of [upstream.address, `127.0.0.1:${await freePort()}`]) {
      await using gateway = await startGateway({ upstreams: [address] });
      for (const request of requests) {
        expect((await exchange(gateway.url, request)).status).toBeGreaterThan(0);
      }
      const lines = await gateway.accessLog((lines) => lines.length === requests.length);
      expect(JSON.stringify(lines)).not.toContain(SECRET);
      expect(gateway.errors()).not.toContain(SECRET);
    }
  });

  test('stays valid UTF-8 and JSON, a line a request, whatever bytes a client sends', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({ upstreams: [upstream.address] });
    // Every byte but those that end a line or a target, in broken and in sound UTF-8.
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).filter(
      (byte) => !'\0\r\n ?#'.includes(String.fromCharCode(byte)),
    );
    const high = bytes.filter((byte) => byte >= 0x80);
    const places = (value: Uint8Array | string) => {
      const text = typeof value === 'string' ? value : Buffer.from(value).toString('latin1');
      return [
        `POST /plants HTTP/1.1\r\nHost: a\r\nUser-Agent: a${text}\r\nContent-Length: 0\r\n\r\n`,
        `POST /plants HTTP/1.1\r\nHost: a\r\nTraceparent: a${text}\r\nContent-Length: 0\r\n\r\n`,
        `POST /plants HTTP/1.1\r\nHost: a\r\nX-Request-Id: a${text}\r\nContent-Length: 0\r\n\r\n`,
        `GET /p${text} HTTP/1.1\r\nHost: a\r\n\r\n`,
        `GET /?${text} HTTP/1.1\r\nHost: a\r\n\r\n`,
        `P${text} /plants HTTP/1.1\r\nHost: a\r\n\r\n`,
        `GET /plants HTTP/1.1${text}\r\nHost: a\r\n\r\n`,
        `GET /plants HTTP/1.1\r\nHost: a${text}\r\n\r\n`,
      ];
    };
    const requests = [bytes, high, '"\\u0000\\', '\xe4', '\xc3\xa4', '\xed\xa0\x80', '\x7f'].flatMap(places);
    for (const request of requests) {
      expect((await exchange(gateway.url, request)).status).toBeGreaterThan(0);
    }
    // Decodes and parses each of them.
    const lines = await gateway.accessLog((lines) => lines.length >= requests.length);
    expect(lines).toHaveLength(requests.length);
    expect(new Set(lines.map((line) => Object.keys(line).join())).size).toBe(1);
  });

  test('cuts off what is no ASCII, and says so', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({ upstreams: [upstream.address] });
    await exchange(
      gateway.url,
      'GET /pl\xe4nts?x HTTP/1.1\r\nHost: a\r\nUser-Agent: caf\xc3\xa9 1.0\r\n\r\n',
    );
    const [line] = await gateway.accessLog((lines) => lines.length === 1);
    expect(line).toMatchObject({ path: '/pl…', userAgent: 'caf…' });
  });

  test('tells of a request that was given up during a reload, as status 0', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({ upstreams: [upstream.address] });
    await using slow = await rawConnection(gateway.url);
    slow.send('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n');
    const dripping = setInterval(() => slow.send('x'), 250);
    try {
      // The one that asks is counted too.
      const taken = async () =>
        (await (await fetch(`${gateway.internalUrl}/status`)).text()).includes('Writing: 2');
      await waitFor(taken, { withinMs: 5_000, what: 'the request is being read' });
      gateway.signal('SIGHUP');
      expect(await slow.ended(DRAIN_MS_MAX)).toBe('');
    } finally {
      clearInterval(dripping);
    }
    const lines = await gateway.accessLog((lines) => lines.length > 0);
    expect(lines).toMatchObject([{ status: 0, path: '/plants' }]);
  });

  test('of failures alone, when asked for: a success writes none', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({
      upstreams: [upstream.address],
      settings: { GATEWAY_LOG: 'failures' },
    });
    await fetch(`${gateway.url}/plants`, { method: 'POST', body: '{}' });
    await fetch(`${gateway.url}/missing`);
    const lines = await gateway.accessLog((lines) => lines.length > 0);
    expect(lines.map(({ status }) => status)).toEqual([404]);
  });
});
