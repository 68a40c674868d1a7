import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../harness/wait-for.ts';
import { type Certificate, makeCertificate } from '../harness/certificate.ts';
import { flood, floodOfStreams } from '../harness/flood.ts';
import { type MemoryGroup, memoryGroup } from '../harness/memory-group.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

const LIMIT_MIB = 128;
/** What capacity.sh makes of that. nginx keeps up to a sixteenth of the connections free, as far as it can. */
const CONNECTIONS = 2_027;
const REQUESTS = 1_013;
const LARGE_BODIES = 253;
const LARGE_BODIES_WITH_TLS = 160;
/** Of anything, more than it can take on. */
const MANY = 2_400;
const WITHIN = { withinMs: 20_000 };

/** As much of a head as is allowed, in lines of the most that one may have. */
const PADDING = [3_700, 7_900, 7_900].map((bytes, index) => `X-Pad-${index}: ${'x'.repeat(bytes)}\r\n`);
const HEAD = `POST /plants HTTP/1.1\r\nHost: a\r\n${PADDING.join('')}`;

/** As much of one as is allowed. HTTP/2 compresses the repetitions to a few bytes; the server holds them all. */
const STREAM_PADDING = Array.from({ length: 5 }, () => 'x'.repeat(3_000));

const limitable = await mayLimitMemory();
if (!limitable)
  process.stderr.write('the gateway in limited memory: skipped, needs root and control groups\n');

describe.skipIf(installedNginx === undefined || !limitable)(
  `in a control group of ${LIMIT_MIB} MiB, nobody without a token ends the gateway`,
  () => {
    test('by heads as large as allowed that never end', () =>
      harmless(async ({ port }) => {
        await using heads = await flood(port, MANY, HEAD);
        await waitFor(() => heads.held() < CONNECTIONS, { ...WITHIN, what: 'the others are refused' });
        expect(heads.held()).toBeGreaterThan(0.9 * CONNECTIONS);
        // That they are answered shows that all of them had been read.
        heads.send('\r\n');
        await waitFor(() => heads.held() === 0, { ...WITHIN, what: 'they are answered' });
      }));

    test('by large bodies that never end', () =>
      harmless(async ({ port }) => {
        const request = `${HEAD}Content-Length: 65536\r\n\r\n${'x'.repeat(65_535)}`;
        await using bodies = await flood(port, MANY, request);
        await waitFor(() => bodies.held() <= LARGE_BODIES, { ...WITHIN, what: 'the others are refused' });
        bodies.send('x');
        await waitFor(() => bodies.held() === 0, { ...WITHIN, what: 'they are answered' });
        // By the API; or 5001, where the refused ones still hold the connections that these need.
        const { '200': created = 0, '503': unavailable = 0 } = bodies.answers();
        expect(created).toBeGreaterThan(0);
        expect(created + unavailable).toBe(LARGE_BODIES);
      }));

    test('by requests that the API does not answer', () =>
      harmless(async ({ port }, upstream) => {
        const request = `${HEAD}x-do: hang\r\nContent-Length: 9999\r\n\r\n${'x'.repeat(9_999)}`;
        await using requests = await flood(port, MANY, request);
        await waitFor(() => requests.held() === 0, { ...WITHIN, what: 'all are answered or ended' });
        const { posts } = await upstream.seen();
        expect(posts).toBeGreaterThan(REQUESTS / 2);
        expect(posts).toBeLessThanOrEqual(REQUESTS);
      }));

    test('by streams of HTTP/2 whose large bodies never end', async () => {
      await using certificate = await makeCertificate();
      await harmless(async ({ tlsPort }) => {
        await using bodies = await floodOfStreams(tlsPort, certificate.pem, {
          ...{ sessions: 16, streams: 120 },
          request: {
            ':method': 'POST',
            ':path': '/plants',
            'content-length': 65_536,
            'x-pad': STREAM_PADDING,
          },
          body: 'x'.repeat(65_000),
        });
        await waitFor(() => bodies.held() <= LARGE_BODIES_WITH_TLS, {
          ...WITHIN,
          what: 'the others are refused',
        });
        expect(bodies.held()).toBe(LARGE_BODIES_WITH_TLS);
      }, certificate);
    });

    test('by streams of HTTP/2 whose refusals are not read', async () => {
      await using certificate = await makeCertificate();
      await harmless(async ({ tlsPort }) => {
        await using requests = await floodOfStreams(tlsPort, certificate.pem, {
          ...{ sessions: 60, streams: 120, unread: true },
          request: { ':path': '/x', 'x-pad': STREAM_PADDING },
        });
        await waitFor(() => requests.held() === 0, { ...WITHIN, what: 'all are answered or reset' });
      }, certificate);
    });
  },
);

async function mayLimitMemory(): Promise<boolean> {
  await using group = await memoryGroup(LIMIT_MIB);
  return group !== undefined;
}

/** Whatever `attack` does: the kernel ends none of the gateway's processes, and then a create passes. */
async function harmless(
  attack: (gateway: RunningGateway, upstream: Upstream) => Promise<void>,
  certificate?: Certificate,
): Promise<void> {
  await using upstream = await startUpstream();
  await using memory = (await memoryGroup(LIMIT_MIB)) as MemoryGroup;
  await using gateway = await startGateway({
    upstreams: [upstream.address],
    memory,
    ...(certificate !== undefined && { certificates: certificate.directory }),
  });
  await attack(gateway, upstream);
  expect(await memory.killed()).toBe(0);
  expect(await memory.peakBytes()).toBeLessThan(memory.limitBytes);
  expect(await createOnce(gateway, certificate)).toBe(200);
}

async function createOnce({ port, tlsPort }: RunningGateway, certificate?: Certificate): Promise<number> {
  const path = { path: '/plants', method: 'POST', agent: false } as const;
  const request =
    certificate === undefined
      ? httpRequest({ ...path, host: '127.0.0.1', port })
      : httpsRequest({ ...path, host: 'localhost', port: tlsPort, ca: certificate.pem });
  request.end('{}');
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}
