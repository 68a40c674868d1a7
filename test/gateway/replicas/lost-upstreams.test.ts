import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as eventsTaken, setTimeout as sleep } from 'node:timers/promises';
import { type ErrorName, errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { freePort } from '@plant-store/local/servers/free-port';
import { describe, expect, test } from 'vitest';
import { underLoadMs, waitFor } from '../../harness/wait-for.ts';
import { installedNginx, startGateway } from '../harness/running-gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

/** On one machine a connection is accepted at once or not at all. */
const CONNECT_MS_MAX = 200;
/** How long the API keeps an idle connection. */
const API_KEEPS_MS = 10_000;

describe.skipIf(installedNginx === undefined)('an upstream that is lost', () => {
  test('refuses connections: 5001, for the request was never sent', async () => {
    const nobody = await freePort();
    await using gateway = await startGateway({ upstreams: [`127.0.0.1:${nobody}`] });
    await expectUnavailable(await create(gateway.url), 'notStored');
  });

  test('refuses connections, another lives: the other one answers every request', async () => {
    await using alive = await startUpstream();
    const nobody = await freePort();
    await using gateway = await startGateway({ upstreams: [`127.0.0.1:${nobody}`, alive.address] });
    for (let request = 0; request < 20; request++) expect((await create(gateway.url)).status).toBe(200);
    expect((await alive.seen()).posts).toBe(20);
  });

  test('all refuse connections: 5001 at once, also while nginx counts them as failed', async () => {
    await using gateway = await startGateway({
      upstreams: [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`],
    });
    for (let request = 0; request < 5; request++) {
      await expectUnavailable(await create(gateway.url), 'notStored');
    }
    // 502 is a refusal, 504 would be a time-out.
    for (const line of await gateway.accessLog((lines) => lines.length === 5)) {
      expect(line['upstreamStatus']).toMatch(/^502(, 502)?$/);
    }
  });

  test('takes no new connection: 5001 after the time for that, and another one takes over where there is one', async () => {
    await using full = await startUpstream({ backlog: 2 });
    await using alive = await startUpstream();
    full.signal('SIGSTOP');
    const waiting = await fillBacklog(full.port);
    try {
      await using alone = await startGateway({ upstreams: [full.address] });
      await expectUnavailable(await create(alone.url), 'notStored');
      const [line] = await alone.accessLog((lines) => lines.length === 1);
      expect(line).toMatchObject({ upstreamStatus: '504', upstreamBytes: '0' });
      expect(line?.seconds).toBeLessThan(4);

      await using both = await startGateway({ upstreams: [full.address, alive.address] });
      let sent = 0;
      const lines = () => both.accessLog((logged) => logged.length === sent);
      await waitFor(
        async () => {
          await create(both.url);
          sent++;
          return (await lines()).some((logged) => logged['upstreamStatus'] === '504, 200');
        },
        { withinMs: 15_000, what: 'another one takes over' },
      );
      // On a busy machine nginx gives up connecting late, and after 400 ms it asks no other.
      for (const late of (await lines()).filter(({ status }) => status !== 200)) {
        expect(late).toMatchObject({ upstreamStatus: '504', upstreamBytes: '0' });
        expect(late.seconds).toBeGreaterThan(0.39);
      }
    } finally {
      for (const socket of waiting) socket.destroy();
      full.signal('SIGCONT');
    }
  });

  test('is stopped after the connection: 5002 within 5 s, and no other replica gets the request', async () => {
    await using stopped = await startUpstream();
    await using alive = await startUpstream();
    await using gateway = await startGateway({ upstreams: [stopped.address, alive.address] });
    stopped.signal('SIGSTOP');
    const answers = await Promise.all(Array.from({ length: 6 }, () => create(gateway.url)));
    const lines = await gateway.accessLog((lines) => lines.length === answers.length);
    for (const { seconds } of lines) expect(seconds).toBeLessThan(underLoadMs(5_000) / 1_000);

    const unknown = answers.filter(({ status }) => status === 503);
    expect(unknown.length).toBeGreaterThan(0);
    for (const answer of unknown) await expectUnavailable(answer, 'outcomeUnknown');
    expect((await alive.seen()).posts).toBe(answers.length - unknown.length);

    // From now on it is known to fail: who comes next does not wait.
    expect((await create(gateway.url)).status).toBe(200);
    const next = (await gateway.accessLog((lines) => lines.length === answers.length + 1)).at(-1);
    expect(next?.['upstream']).toBe(alive.address);
    stopped.signal('SIGCONT');
  });

  test('is killed with the request in its hands: 5002 at once, and no other replica gets it', async () => {
    await using killed = await startUpstream();
    await using gateway = await startGateway({ upstreams: [killed.address] });
    const pending = create(gateway.url, { 'x-do': 'hang' });
    await waitFor(async () => (await killed.seen()).posts === 1, {
      withinMs: 5_000,
      what: 'it has the request',
    });
    await killed.kill();
    await expectUnavailable(await pending, 'outcomeUnknown');
    const [line] = await gateway.accessLog((lines) => lines.length === 1);
    expect(line?.['upstreamStatus'], 'a time-out would be 504').toBe('502');
  });

  test.each(['reset', 'close'])(
    'answers with a %s: 5002, and no other replica gets the request',
    async (fault) => {
      await using first = await startUpstream();
      await using second = await startUpstream();
      await using gateway = await startGateway({ upstreams: [first.address, second.address] });
      await expectUnavailable(await create(gateway.url, { 'x-do': fault }), 'outcomeUnknown');
      expect((await first.seen()).posts + (await second.seen()).posts).toBe(1);
    },
  );

  test('comes back on its port: it gets requests again, and meanwhile none fails', async () => {
    const first = await startUpstream();
    await using second = await startUpstream();
    await using gateway = await startGateway({ upstreams: [first.address, second.address] });
    await first.kill();
    for (let request = 0; request < 4; request++) expect((await create(gateway.url)).status).toBe(200);

    await using back = await startUpstream({ port: first.port });
    const again = async () => {
      expect((await create(gateway.url)).status).toBe(200);
      return (await back.seen()).posts > 0;
    };
    await waitFor(again, { withinMs: 15_000, what: 'it gets a request' });
  });

  test('an answer of the API stays as it is, whatever its status', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({ upstreams: [upstream.address] });
    for (const status of [400, 404, 405, 413, 429, 500, 502, 503, 504]) {
      const answer = await create(gateway.url, { 'x-do': 'refuse', 'x-status': String(status) });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toEqual({ error: 5001, message: 'own words' });
      expect(answer.headers.get('retry-after')).toBe('7');
      expect(answer.headers.get('allow')).toBe('PATCH');
    }
  });

  test('an idle connection to the API is closed after 2 s, long before the API would', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({ upstreams: [upstream.address] });
    await create(gateway.url);
    const idleMs = await waitFor(async () => (await upstream.seen()).gatewayIdleMs, {
      withinMs: 15_000,
      what: 'the gateway closes its connection',
    });
    expect(idleMs).toBeGreaterThan(1_800);
    expect(idleMs).toBeLessThan(API_KEEPS_MS);
  });
});

function create(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/plants`, { method: 'POST', body: '{"id":1,"name":"fern"}', headers });
}

async function expectUnavailable(answer: Response, name: ErrorName): Promise<void> {
  const { error, message } = errorCatalogue[name];
  expect(await answer.json()).toEqual({ error, message });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
}

/** Connects until a stopped server's queue of new connections is full, which shows in one that is not accepted. */
async function fillBacklog(port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    await Promise.race([once(socket, 'connect'), sleep(CONNECT_MS_MAX)]);
    // After a stall of this process its timers come first: what has arrived meanwhile comes now.
    await eventsTaken();
    if (socket.connecting) return sockets;
  }
}
