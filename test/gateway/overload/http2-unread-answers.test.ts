import { once } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http2';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { json } from 'node:stream/consumers';
import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../harness/wait-for.ts';
import { makeCertificate } from '../harness/certificate.ts';
import { type FloodOfStreams, floodOfStreams } from '../harness/flood.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

const CONNECTIONS = 64;
/** What render.sh makes of that. */
const REQUESTS = 32;
const REFUSED_STREAMS = 8;
const STREAMS = 40;

const create = { ':method': 'POST', ':path': '/plants', 'content-length': 0 };

describe.skipIf(installedNginx === undefined)(
  'over HTTP/2, few requests are held by refusals that nobody reads',
  () => {
    test.each<{ what: string; request: OutgoingHttpHeaders; body?: string; status: number }>([
      { what: 'an unknown path', request: { ':path': '/x' }, status: 404 },
      { what: 'another method', request: { ':path': '/plants' }, status: 405 },
      { what: 'an unknown expectation', request: { ...create, expect: 'cake' }, status: 417 },
      {
        what: 'a body over the limit',
        request: { ...create, 'content-length': 65_537 },
        body: 'x',
        status: 400,
      },
    ])('$what is $status, and beyond a limit reset', async ({ status, ...sent }) => {
      await using attack = await attackWith(sent);
      const { gateway, streams, ca } = attack;
      expect(streams.answers()).toEqual({ [status]: REFUSED_STREAMS });
      expect(streams.reset()).toBe(STREAMS - REFUSED_STREAMS);
      // Creates are served meanwhile, and over HTTP/1.1 also refusals.
      expect(await answerOf(gateway, { ca, path: '/plants', method: 'POST' })).toMatchObject({ status: 200 });
      const { error, message } = errorCatalogue.pathUnknown;
      expect(await answerOf(gateway, { ca, path: '/x' })).toEqual({ status: 404, body: { error, message } });
    });

    test('a malformed request is 400 without a body: none is held', async () => {
      await using attack = await attackWith({ request: { ...create, ':path': 'plants' } });
      const { streams } = attack;
      await waitFor(() => streams.open() === 0, { withinMs: 5_000, what: 'all have ended' });
      expect(streams.answers()).toEqual({ 400: STREAMS });
      expect(streams.reset()).toBe(0);
    });

    test('more a second than allowed is 429, and beyond a limit reset', async () => {
      const limits = { GATEWAY_LIMITS: 'on', GATEWAY_RATE: '1', GATEWAY_BURST: '1' };
      await using attack = await attackWith({ request: { ...create, 'x-do': 'hang' } }, limits);
      expect(attack.streams.answers()).toEqual({ 429: REFUSED_STREAMS });
    });

    test.each([
      { whose: 'one client', limits: { GATEWAY_LIMITS: 'on', GATEWAY_CONNECTIONS: '4' }, passed: 4 },
      { whose: 'all together', limits: { GATEWAY_WORKER_CONNECTIONS: '128' }, passed: 2 * REQUESTS },
    ])(
      'more at once than allowed to $whose is 429 without a body: none is held',
      async ({ limits, passed }) => {
        const request = { ...create, 'x-do': 'hang' };
        await using attack = await attackWith({ request, streams: passed + STREAMS }, limits);
        const { streams } = attack;
        await waitFor(() => streams.open() === passed, { withinMs: 5_000, what: 'the refused have ended' });
        expect(streams.answers()).toEqual({ 429: STREAMS });
        expect(streams.reset()).toBe(0);
        const headers = streams.lastHeaders();
        expect(headers).toMatchObject({ 'retry-after': '1', 'x-request-id': expect.any(String) });
        expect(headers).not.toHaveProperty('content-type');
      },
    );
  },
);

type Attack = AsyncDisposable & {
  gateway: RunningGateway;
  streams: FloodOfStreams;
  ca: string;
};

/** Streams on one connection that takes no body, when each was answered, reset or passed on to the API. */
async function attackWith(
  sent: { request: OutgoingHttpHeaders; body?: string; streams?: number },
  settings: Record<`GATEWAY_${string}`, string> = {},
): Promise<Attack> {
  await using stack = new AsyncDisposableStack();
  const certificate = stack.use(await makeCertificate());
  const upstream = stack.use(await startUpstream());
  const gateway = stack.use(
    await startGateway({
      upstreams: [upstream.address],
      certificates: certificate.directory,
      settings: { GATEWAY_WORKER_CONNECTIONS: `${CONNECTIONS}`, ...settings },
    }),
  );
  const ca = certificate.pem;
  const attack = { sessions: 1, streams: STREAMS, unread: true, ...sent };
  const streams = stack.use(await floodOfStreams(gateway.tlsPort, ca, attack));
  await waitFor(async () => streams.held() === (await upstream.seen()).posts, {
    withinMs: 5_000,
    what: 'each is answered, reset or passed on',
  });
  const owned = stack.move();
  return { gateway, streams, ca, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function answerOf({ tlsPort }: RunningGateway, options: RequestOptions) {
  const request = httpsRequest({ host: 'localhost', port: tlsPort, agent: false, ...options });
  request.end();
  const [answer] = await once(request, 'response');
  return { status: answer.statusCode as number, body: await json(answer) };
}
