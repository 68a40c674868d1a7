import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawConnection } from '../../harness/network/raw-http.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** Production has 5 s, 10 s and 60 s. */
const TIMEOUT_MS = 500;
/** Sooner than production's, by which nothing is cut here. */
const CUT_MS_MAX = 4_500;

describe.skipIf(installedNginx === undefined)('slow clients are cut, others are not', () => {
  let upstream: Upstream;
  let gateway: RunningGateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      upstreams: [upstream.address],
      settings: {
        GATEWAY_HEAD_TIMEOUT: `${TIMEOUT_MS}ms`,
        GATEWAY_CLIENT_TIMEOUT: `${TIMEOUT_MS}ms`,
      },
    });
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  test('a head that arrives letter by letter', async () => {
    await using connection = await rawConnection(gateway.url);
    connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    const dripping = setInterval(() => connection.send('x'), TIMEOUT_MS / 10);
    try {
      expect(await connection.ended(CUT_MS_MAX)).toBe('');
    } finally {
      clearInterval(dripping);
    }
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

  test('a connection that stays idle after its answer, and not before', async () => {
    await using idling = await startGateway({
      upstreams: [upstream.address],
      settings: { GATEWAY_IDLE_TIMEOUT: `${TIMEOUT_MS}ms` },
    });
    await using connection = await rawConnection(idling.url);
    const asked = performance.now();
    connection.send('POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}');
    expect((await connection.answer()).status).toBe(200);
    expect(await connection.ended(CUT_MS_MAX)).toBe('');
    expect(performance.now() - asked).toBeGreaterThan(TIMEOUT_MS);
  });

  test('a hundred of them hold up nobody', async () => {
    await using production = await startGateway({ upstreams: [upstream.address] });
    const slow = await Promise.all(Array.from({ length: 100 }, () => rawConnection(production.url)));
    let ended = 0;
    for (const connection of slow) {
      void connection.closed.then(() => ended++);
      connection.send('POST /pl');
    }
    const answer = await fetch(`${production.url}/plants`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(200);
    expect(ended, 'slow clients whose end it waited for').toBe(0);
    for (const connection of slow) await connection[Symbol.asyncDispose]();
  });
});
