import { errorCatalogue } from '@plant-store/contracts/error-catalogue';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../harness/wait-for.ts';
import { installedNginx, startGateway } from '../harness/running-gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

describe.skipIf(installedNginx === undefined)('limits for each client', () => {
  test('beyond rate and burst: 429 with 4000, Retry-After and X-Request-Id; after that time it is 200 again', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({
      upstreams: [upstream.address],
      settings: { GATEWAY_LIMITS: 'on', GATEWAY_RATE: '1', GATEWAY_BURST: '3' },
    });
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 40 }, () => create(gateway.url)));
    const seconds = (performance.now() - began) / 1_000;
    const refused = answers.filter(({ status }) => status === 429);
    const created = answers.length - refused.length;
    // The first one, the burst, and one for each second that it took.
    expect(created).toBeGreaterThanOrEqual(4);
    expect(created).toBeLessThanOrEqual(4 + seconds);
    const { error, message } = errorCatalogue.rateLimited;
    for (const answer of refused) {
      expect(await answer.json()).toEqual({ error, message });
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
    }
    expect((await upstream.seen()).posts).toBe(created);
    await waitFor(async () => (await create(gateway.url)).status === 200, {
      withinMs: 15_000,
      what: 'a create passes again',
    });
  });

  test('more requests at once than allowed: 429 with 4000, and those before are answered', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({
      upstreams: [upstream.address],
      settings: { GATEWAY_LIMITS: 'on', GATEWAY_CONNECTIONS: '2' },
    });
    const held = [create(gateway.url, { 'x-do': 'hang' }), create(gateway.url, { 'x-do': 'hang' })];
    await waitFor(async () => (await upstream.seen()).posts === 2, { withinMs: 5_000, what: 'two are held' });
    const third = await create(gateway.url);
    expect(third.status).toBe(429);
    expect(await third.json()).toMatchObject({ error: errorCatalogue.rateLimited.error });
    await upstream.kill();
    for (const answer of await Promise.all(held)) expect(answer.status).toBe(503);
  });

  test('one client does not spend what another may; one IPv6 network (/64) is one client', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({
      upstreams: [upstream.address],
      settings: {
        GATEWAY_LIMITS: 'on',
        GATEWAY_RATE: '1',
        GATEWAY_BURST: '1',
        GATEWAY_TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    const from = async (address: string) =>
      (await create(gateway.url, { 'x-forwarded-for': address })).status;
    await refusedAtLast(() => from('192.0.2.1'));
    expect(await from('192.0.2.2')).toBe(200);
    let host = 0;
    await refusedAtLast(() => from(`2001:db8::${(++host).toString(16)}`));
    expect(await from('2001:db8:0:1::1')).toBe(200);
  });

  test('switched off, nothing is counted', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway({
      upstreams: [upstream.address],
      settings: { GATEWAY_LIMITS: 'off', GATEWAY_RATE: '1', GATEWAY_BURST: '1', GATEWAY_CONNECTIONS: '1' },
    });
    const answers = await Promise.all(Array.from({ length: 50 }, () => create(gateway.url)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});

function create(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/plants`, { method: 'POST', body: '{"id":1,"name":"fern"}', headers });
}

/** One create after the other until the limit is reached, however slow this machine is. */
function refusedAtLast(attempt: () => Promise<number>): Promise<unknown> {
  return waitFor(async () => (await attempt()) === 429, { withinMs: 15_000, what: 'the limit is reached' });
}
