import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Load } from './load.ts';
import { byGenerator, runLoad } from './run-load.ts';

type Answer = { status: number; afterMs: number };

/** A server that notes which ids it was asked to create, and answers as told. */
async function server(answer: (request: number) => Answer) {
  const ids: number[] = [];
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { status, afterMs } = answer(ids.push((JSON.parse(body) as { id: number }).id));
    setTimeout(() => {
      response.writeHead(status, { 'content-length': 2 });
      response.end('{}');
    }, afterMs);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    ids,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    breakConnections: () => http.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

const load = (url: string, more: Partial<Load> = {}): Load => ({
  ...{ url, token: 'token', connections: 8, seconds: 0.5, firstId: 1 },
  ...more,
});

test('a closed loop counts every answer: nothing is in flight when it ends', async () => {
  await using system = await server(() => ({ status: 200, afterMs: 20 }));
  const report = await runLoad(load(system.url));
  expect(report).toMatchObject({ created: system.ids.length, refused: 0, broken: 0 });
  expect(new Set(system.ids).size).toBe(system.ids.length);
  expect(report.answeredMs).toBeGreaterThan(report.startedMs + 400);
});

test('a closed loop without wrk does the same', async () => {
  await using system = await server(() => ({ status: 200, afterMs: 20 }));
  const report = await byGenerator(load(system.url));
  expect(report).toMatchObject({ created: system.ids.length, refused: 0, broken: 0 });
});

test('one request in ten repeats an id, where that is wanted', async () => {
  await using system = await server(() => ({ status: 200, afterMs: 0 }));
  for (const run of [runLoad, byGenerator]) {
    system.ids.length = 0;
    const { repeated } = await run(load(system.url, { repeatEvery: 10, seconds: 2 }));
    expect(repeated).toBeGreaterThan(0);
    expect(new Set(system.ids).size).toBe(system.ids.length - repeated);
  }
});

test('an open loop times from when a create was due, not from when a connection was free', async () => {
  // The first answer takes 400 ms and there is one connection: a closed loop would see one slow answer in a hundred.
  await using system = await server((request) => ({ status: 200, afterMs: request === 1 ? 400 : 0 }));
  const report = await runLoad(load(system.url, { connections: 1, rate: 200, seconds: 0.5 }));
  expect(report).toMatchObject({ created: 100, refused: 0, broken: 0 });
  expect(report.p50Ms).toBeGreaterThan(100);
  expect(report.p99Ms).toBeGreaterThan(350);
});

test('refused creates and broken connections are counted', async () => {
  await using refusing = await server((request) => ({ status: request % 2 ? 200 : 503, afterMs: 5 }));
  const refused = await runLoad(load(refusing.url));
  expect(refused.created + refused.refused).toBe(refusing.ids.length);
  expect(refused.refused).toBeGreaterThan(0);

  await using system = await server(() => ({ status: 200, afterMs: 60_000 }));
  const running = byGenerator(load(system.url));
  await expect.poll(() => system.ids.length, { timeout: 10_000 }).toBe(8);
  system.breakConnections();
  expect((await running).broken).toBeGreaterThan(0);
});
