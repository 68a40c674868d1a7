import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange } from '../harness/raw-http.ts';
import { installedNginx, type RunningGateway, startGateway } from './running-gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** nginx counts in milliseconds here; production has 10 s and 60 s. */
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

  const drip = (text: string, everyMs: number) =>
    [...text].flatMap((letter) => [letter, () => pause(everyMs)]);

  test('a head that arrives letter by letter', async () => {
    const head = `POST /plants HTTP/1.1\r\nHost: a\r\nX-Slow: ${'x'.repeat(100)}\r\n\r\n`;
    const { answers, closed, ms } = await exchange(gateway.url, drip(head, 50), { untilClosed: true });
    expect({ answers, closed }).toEqual({ answers: [], closed: true });
    expect(ms).toBeLessThan(CUT_MS_MAX);
  });

  test('a connection on which nothing is asked', async () => {
    const { closed, ms } = await exchange(gateway.url, '', { untilClosed: true });
    expect(closed).toBe(true);
    expect(ms).toBeLessThan(CUT_MS_MAX);
  });

  test('a body that stops arriving', async () => {
    const request = 'POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"id"';
    const { answers, closed, ms } = await exchange(gateway.url, request, { untilClosed: true });
    expect({ answers, closed }).toEqual({ answers: [], closed: true });
    expect(ms).toBeLessThan(CUT_MS_MAX);
    expect((await upstream.seen()).posts).toBe(0);
  });

  test('a connection that stays idle after its answer', async () => {
    const request = 'POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}';
    const { answers, closed, ms } = await exchange(gateway.url, request, { untilClosed: true });
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(closed).toBe(true);
    expect(ms).toBeGreaterThan(TIMEOUT_MS * 0.8);
    expect(ms).toBeLessThan(CUT_MS_MAX);
  });

  test('a hundred of them hold up nobody', async () => {
    const slow = Array.from({ length: 100 }, () => exchange(gateway.url, 'POST /pl', { untilClosed: true }));
    const started = performance.now();
    const answer = await fetch(`${gateway.url}/plants`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(200);
    expect(performance.now() - started).toBeLessThan(TIMEOUT_MS);
    for (const { closed } of await Promise.all(slow)) expect(closed).toBe(true);
  });
});
