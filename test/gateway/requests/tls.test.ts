import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { connect as connectTls, type SecureVersion } from 'node:tls';
import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange } from '../../harness/network/raw-http.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { type Certificate, makeCertificate } from '../harness/certificate.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { type Seen, startUpstream, type Upstream } from '../harness/upstream.ts';

describe.skipIf(installedNginx === undefined)('with certificates', () => {
  let certificate: Certificate;
  let upstream: Upstream;
  let gateway: RunningGateway;
  let session: ClientHttp2Session;
  beforeAll(async () => {
    certificate = await makeCertificate();
    upstream = await startUpstream();
    gateway = await startGateway({ upstreams: [upstream.address], certificates: certificate.directory });
    session = connectHttp2(`https://localhost:${gateway.tlsPort}`, { ca: certificate.pem });
    await once(session, 'connect');
  });
  afterAll(async () => {
    session?.destroy();
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    await certificate[Symbol.asyncDispose]();
  });

  type Answer = { status: number; headers: Record<string, unknown>; body: Record<string, unknown> };

  async function overHttp2(headers: Record<string, string>, body = ''): Promise<Answer> {
    const stream = session.request({ ':path': '/plants', ':method': 'POST', ...headers });
    stream.end(body);
    const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
    return {
      status: Number(answer[':status']),
      headers: answer,
      body: (await json(stream)) as Answer['body'],
    };
  }

  async function overTls(port: number, ca: string, headers = {}): Promise<Answer> {
    const request = httpsRequest({
      host: 'localhost',
      port,
      ca,
      path: '/plants',
      method: 'POST',
      agent: false,
      headers,
    });
    request.end('{}');
    const [answer] = await once(request, 'response');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: (await json(answer)) as Answer['body'],
    };
  }

  const protocol = (version: SecureVersion, ciphers?: string) =>
    new Promise<string>((resolve) => {
      const socket = connectTls({
        ...{ host: 'localhost', port: gateway.tlsPort, ca: certificate.pem },
        ...{ minVersion: version, maxVersion: version },
        // Old versions need a lower level in the client, or the test would not reach the server with them.
        ciphers: ciphers ?? 'DEFAULT@SECLEVEL=0',
      });
      socket.once('secureConnect', () => {
        resolve(socket.getProtocol() ?? 'none');
        socket.destroy();
      });
      socket.once('error', () => resolve('refused'));
    });

  test('a create goes through over TLS, and the API is told so', async () => {
    const { status, headers, body } = await overTls(gateway.tlsPort, certificate.pem);
    expect(status).toBe(200);
    expect(headers['strict-transport-security']).toBe('max-age=63072000');
    const seen = (body as unknown as Seen).headers;
    expect(seen[seen.indexOf('X-Forwarded-Proto') + 1]).toBe('https');
  });

  test('a create goes through over HTTP/2, many on one connection', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => overHttp2({ 'x-request-id': `h2-${n}` }, '{"id":1}')),
    );
    for (const [n, { status, headers, body }] of answers.entries()) {
      expect(status).toBe(200);
      expect(headers['x-request-id']).toBe(`h2-${n}`);
      expect(body).toMatchObject({ method: 'POST', bytes: 8 });
    }
  });

  test.each([
    { what: 'an unknown path', headers: { ':path': '/x' }, status: 404, name: 'pathUnknown' },
    { what: 'another method', headers: { ':method': 'PUT' }, status: 405, name: 'methodNotAllowed' },
    { what: 'an unknown expectation', headers: { expect: 'cake' }, status: 417, name: 'malformedRequest' },
    {
      what: 'a body over the limit',
      headers: {},
      body: 'x'.repeat(65_537),
      status: 400,
      name: 'bodyTooLarge',
    },
    { what: 'a reset by the API', headers: { 'x-do': 'reset' }, status: 503, name: 'outcomeUnknown' },
  ] as const)(
    'over HTTP/2 $what is $status with the Error body',
    async ({ headers, status, name, ...rest }) => {
      const answer = await overHttp2({ ...headers }, 'body' in rest ? rest.body : '');
      const { error, message } = errorCatalogue[name];
      expect(answer).toMatchObject({ status, body: { error, message } });
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
    },
  );

  test('over HTTP/2 a head that is too large ends the connection, as nginx has no answer for it', async () => {
    const own = connectHttp2(`https://localhost:${gateway.tlsPort}`, { ca: certificate.pem });
    const ended = once(own, 'goaway');
    own.on('error', () => {});
    own.request({ ':path': '/plants', ':method': 'POST', 'x-long': '~'.repeat(9_000) }).on('error', () => {});
    const [code] = await ended;
    expect(code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    own.destroy();
  });

  test('TLS 1.2 and 1.3 are spoken, older ones are not, nor ciphers without forward secrecy', async () => {
    expect(await protocol('TLSv1.3')).toBe('TLSv1.3');
    expect(await protocol('TLSv1.2')).toBe('TLSv1.2');
    expect(await protocol('TLSv1.1')).toBe('refused');
    expect(await protocol('TLSv1')).toBe('refused');
    expect(await protocol('TLSv1.2', 'AES128-SHA')).toBe('refused');
    expect(await protocol('TLSv1.2', 'ECDHE-ECDSA-AES128-SHA')).toBe('refused');
  });

  test('plain HTTP redirects to HTTPS, keeping method, host and path, whatever is asked', async () => {
    for (const first of ['POST /plants?x=1', 'GET /plants?x=1']) {
      const answer = await exchange(
        gateway.url,
        `${first} HTTP/1.1\r\nHost: Plants.Example\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(answer.status).toBe(308);
      expect(answer.headers.get('location')).toBe(`https://plants.example:${gateway.tlsPort}/plants?x=1`);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(JSON.parse(answer.body)).toMatchObject({
        error: errorCatalogue.malformedRequest.error,
      });
    }
    const answer = await exchange(gateway.url, 'nonsense\r\n\r\n');
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.headers.has('location')).toBe(false);
  });

  test('plain HTTP on the TLS port is 400 with the Error body', async () => {
    const url = `http://127.0.0.1:${gateway.tlsPort}`;
    const answer = await exchange(url, 'POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({
      error: errorCatalogue.malformedRequest.error,
    });
  });

  test('SIGHUP takes a renewed certificate, and cuts no request', async () => {
    await using renewed = await makeCertificate();
    const inFlight = overTls(gateway.tlsPort, certificate.pem, { 'x-do': 'answer-late' });
    await waitFor(async () => (await upstream.seen()).late === 1, {
      withinMs: 5_000,
      what: 'it is in flight',
    });
    // A new file in the old one's place, as renewals do it: newer releases of nginx keep one that looks the same.
    for (const name of ['tls.crt', 'tls.key']) {
      await rename(join(renewed.directory, name), join(certificate.directory, name));
    }
    gateway.signal('SIGHUP');
    await waitFor(async () => (await overTls(gateway.tlsPort, renewed.pem)).status === 200, {
      withinMs: 5_000,
      what: 'the renewed certificate is served',
    });
    expect((await inFlight).status).toBe(200);
  });
});
