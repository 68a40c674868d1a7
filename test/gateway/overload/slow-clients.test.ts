import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawConnection } from '../../harness/raw-http.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Production has 10 s and 60 s. */
const TIMEOUT_MS = 500;
const CUT_MS_MAX = 2_000;

describe.skipIf(installedNginx === undefined)('slow clients are cut, others are not', () => {
  let upstream: Upstream;
  let gateway: RunningGateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      upstreams: [upstream.address],
      settings: { GATEWAY_CLIENT_TIMEOUT: `${TIMEOUT_MS}ms`, GATEWAY_IDLE_TIMEOUT: `${TIMEOUT_MS}ms` },
    });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  test('a head that arrives letter by letter', async () => {
    await using connection = await rawConnection(gateway.url);
    const started = performance.now();
    connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    const dripping = setInterval(() => connection.send('x'), TIMEOUT_MS / 10);
    expect(await connection.ended(CUT_MS_MAX)).toBe('');
    clearInterval(dripping);
    expect(performance.now() - started).toBeGreaterThan(TIMEOUT_MS * 0.8);
  });

  test('a connection on which nothing is asked', async () => {
    await using connection = await rawConnection(gateway.url);
    expect(await connection.ended(CUT_MS_MAX)).toBe('');
  });

  test('a body that stops arriving', async () => {
    await using connection = await rawConnection(gateway.url);
    connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"id"');
    expect(await connection.ended(CUT_MS_MAX)).toBe('');
    expect((await upstream.seen()).posts).toBe(0);
  });

  test('a connection that stays idle after its answer', async () => {
    await using connection = await rawConnection(gateway.url);
    connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
    expect((await connection.answer()).status).toBe(200);
    const answered = performance.now();
    expect(await connection.ended(CUT_MS_MAX)).toBe('');
    expect(performance.now() - answered).toBeGreaterThan(TIMEOUT_MS * 0.8);
  });

  test('a hundred of them hold up nobody', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => rawConnection(gateway.url)));
    for (const connection of slow) connection.send('POST /pl');
    const started = performance.now();
    const answer = await fetch(`${gateway.url}/plants`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(200);
    expect(performance.now() - started).toBeLessThan(TIMEOUT_MS);
    for (const connection of slow) {
      await connection.ended(CUT_MS_MAX);
      await connection[Symbol.asyncDispose]();
    }
  });
});
