import { freePort } from '@plant-store/local/servers/free-port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiUnderTest, startReplica } from '../../harness/api/api.ts';
import { type Program, startProgram } from '../../harness/processes/program.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { installedNginx, type RunningGateway, startGateway } from '../harness/running-gateway.ts';
import { startUpstream } from '../harness/upstream.ts';

const api = apiUnderTest();
const DRAIN_MS = 5_000;

const hostOf = (url: string) => new URL(url).host;

/** A gateway whose replicas are these. */
const inFrontOf = (...replicas: { url: string; internalUrl: string }[]): Promise<RunningGateway> =>
  startGateway({
    upstreams: replicas.map(({ url }) => hostOf(url)),
    readinessUpstreams: replicas.map(({ internalUrl }) => hostOf(internalUrl)),
  });

async function readiness(gateway: RunningGateway): Promise<[number, unknown]> {
  const answer = await fetch(`${gateway.internalUrl}/readyz`);
  return [answer.status, await answer.json()];
}

const READY = [200, { status: 'ok' }];
const UNREADY = [503, { status: 'unavailable' }];

/**
 * Ready four times in a row: in turn each replica is asked first, and the gateway has to go on to the next. A replica has
 * 500 ms, which one on a busy machine may miss.
 */
const untilReady = (gateway: RunningGateway) =>
  waitFor(
    async () => {
      for (let asked = 0; asked < 4; asked++) expect(await readiness(gateway)).toEqual(READY);
      return true;
    },
    { withinMs: 15_000, what: 'the gateway is ready' },
  );

describe.skipIf(installedNginx === undefined)('the gateway is ready while a replica of the API is', () => {
  let withoutDatabase: Program;
  beforeAll(async () => {
    const nobody = `mongodb://127.0.0.1:${await freePort()}/nobody`;
    withoutDatabase = await startProgram('api', { ...api.environment, MONGODB_URL: nobody, DRAIN_MS: '0' });
  });
  afterAll(() => withoutDatabase.stop());

  test('asking for it is no request to the API: no line in its log, nothing in its metrics', async () => {
    await using gateway = await inFrontOf(api.replica);
    const requests = async () => {
      const metrics = await (await fetch(`${api.replica.internalUrl}/metrics`)).text();
      return metrics.split('\n').filter((line) => line.startsWith('http_requests_total'));
    };
    const [lines, counted] = [api.replica.log.length, await requests()];
    await untilReady(gateway);
    expect(api.replica.log.slice(lines)).toEqual([]);
    expect(await requests()).toEqual(counted);
  });

  test('a replica that serves but is not ready does not count; one that is ready beside it is enough', async () => {
    await using without = await inFrontOf(withoutDatabase);
    expect(await readiness(without)).toEqual(UNREADY);
    expect((await fetch(`${without.internalUrl}/livez`)).status).toBe(200);
    await using mixed = await inFrontOf(withoutDatabase, api.replica);
    await untilReady(mixed);
  });

  test('a replica that drains does not count, though it still answers', async () => {
    const draining = await startReplica({ ...api.environment, DRAIN_MS: `${DRAIN_MS}` });
    await using gateway = await inFrontOf(draining);
    await untilReady(gateway);
    const closed = draining.close();
    await waitFor(async () => (await readiness(gateway))[0] === 503, {
      withinMs: DRAIN_MS,
      what: 'the gateway is unready',
    });
    expect((await fetch(`${gateway.url}/plants`, { method: 'POST', body: '{}' })).status).toBe(401);
    await closed;
    expect(await readiness(gateway)).toEqual(UNREADY);
  });

  test('a replica that is gone or silent does not count', async () => {
    await using silent = await startUpstream();
    const nobody = `127.0.0.1:${await freePort()}`;
    silent.signal('SIGSTOP');
    await using alone = await startGateway({ upstreams: [silent.address, nobody] });
    expect(await readiness(alone)).toEqual(UNREADY);
    await using gateway = await startGateway({
      upstreams: [silent.address],
      readinessUpstreams: [silent.address, nobody, hostOf(api.replica.internalUrl)],
    });
    await untilReady(gateway);
    silent.signal('SIGCONT');
  });
});
