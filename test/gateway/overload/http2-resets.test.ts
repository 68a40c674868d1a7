import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { describe, expect, test } from 'vitest';
import { nginxVersion } from '../../../deploy/gateway/gateway-command.ts';
import { makeCertificate } from '../harness/certificate.ts';
import { startGateway } from '../harness/running-gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

const REQUESTS_MAX = 1_000;
const AT_ONCE = 50;

/** From 1.25.3 on nginx sees such a client by itself. */
const [major = 0, minor = 0, patch = 0] = ((await nginxVersion()) ?? '').split('.').map(Number);
const bounded = major === 1 && (minor < 25 || (minor === 25 && patch < 3));

describe.skipIf(!bounded)('a client that opens and resets streams without end (CVE-2023-44487)', () => {
  test('gets 1,000 of them through, then its connection ends; others are served', async () => {
    await using certificate = await makeCertificate();
    await using upstream = await startUpstream();
    await using gateway = await startGateway({
      upstreams: [upstream.address],
      certificates: certificate.directory,
    });
    const open = () => connect(`https://localhost:${gateway.tlsPort}`, { ca: certificate.pem });

    const abusive = open();
    abusive.on('error', () => {});
    const goneAway = once(abusive, 'goaway');
    await once(abusive, 'remoteSettings');
    for (let reset = 0; reset < 3 * REQUESTS_MAX; reset += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => openAndReset(abusive)));
      await answeredPing(abusive);
    }
    await goneAway;
    abusive.destroy();

    const orderly = open();
    const create = orderly.request({ ':method': 'POST', ':path': '/plants' });
    create.end('{}');
    const [headers] = (await once(create, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(200);
    create.resume();
    await once(create, 'close');
    orderly.destroy();
    // Each worker process of nginx buffers its lines, so those of the abusive connection may be written later.
    const lines = await gateway.accessLog((lines) => lines.length > REQUESTS_MAX);
    expect(lines).toHaveLength(REQUESTS_MAX + 1);
    expect(lines.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

/**
 * Until nginx has read all that was sent, or the connection has ended. An nginx that finds more streams at once than twice
 * its limit for a connection ends it before the 1,000 requests; Debian has taken that over from 1.25.3.
 */
async function answeredPing(session: ClientHttp2Session): Promise<void> {
  if (session.closed || session.destroyed) return;
  await new Promise<void>((resolve) => session.ping(() => resolve()));
}

async function openAndReset(session: ClientHttp2Session): Promise<void> {
  if (session.closed || session.destroyed) return;
  const stream = session.request({ ':method': 'POST', ':path': '/plants', 'x-do': 'hang' });
  stream.on('error', () => {});
  const closed = once(stream, 'close');
  // Its head has left this process by then.
  await new Promise(setImmediate);
  stream.close(constants.NGHTTP2_CANCEL);
  await closed;
}
