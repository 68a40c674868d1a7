import { createRegistry } from '@plant-store/platform/process/metrics';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiEvents } from '../../services/api/src/events.ts';
import { buildApp } from '../../services/api/src/http/app.ts';
import { installedNginx, type RunningGateway, startGateway } from '../gateway/harness/running-gateway.ts';
import { apiUnderTest } from '../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../harness/api/post-plant.ts';
import { inSeconds, TEST_SECRET, token } from '../harness/api/tokens.ts';
import { capturedLog } from '../harness/captured-log.ts';

const api = apiUnderTest();

describe('the log', () => {
  const name = 'a name that nobody should read in a log';
  const key = 'a-key-that-nobody-should-read-in-a-log';
  const expired = token({ claims: { exp: inSeconds(-3_600), sub: 'a-subject-that-was-refused' } });

  test('has one line for each refusal, with the request id of the answer, its number and its time', async () => {
    const since = api.replica.log.length;
    const answers = [
      await postPlant(api.url, { id: '"1"', name }, { key }),
      await postPlant(api.url, { id: freshId(), name }, { accessToken: expired, key }),
      await postPlant(api.url, { id: freshId(), name }, { headers: { 'content-type': 'text/plain' } }),
    ];
    const lines = api.replica.log.slice(since);
    expect(lines).toEqual(
      answers.map(({ status, headers, body }) =>
        expect.objectContaining({
          request: headers.get('x-request-id'),
          status,
          error: body.error,
          ms: expect.any(Number),
          time: expect.anything(),
        }),
      ),
    );
  });

  test('holds no token, secret, key, header or content of a plant, and no line for a success', async () => {
    const since = api.replica.log.length;
    expect(await postPlant(api.url, { id: freshId(), name }, { key })).toMatchObject({ status: 200 });
    expect(api.replica.log.slice(since).filter(({ msg }) => msg !== 'request was slow')).toEqual([]);

    await postPlant(api.url, { id: freshId(), name }, { accessToken: expired });
    const log = JSON.stringify(api.replica.log);
    for (const secret of [
      name,
      key,
      TEST_SECRET,
      token().split('.')[2] as string,
      'a-subject-that-was-refused',
      'Bearer',
      'eyJ',
    ]) {
      expect(log).not.toContain(secret);
    }
  });

  test('cannot be forged by a request id: one that is not well-formed is replaced', async () => {
    const forged = 'a","msg":"forged';
    const { headers } = await postPlant(
      api.url,
      { id: '"1"', name },
      { headers: { 'x-request-id': forged } },
    );
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.stringify(api.replica.log)).not.toContain('forged');
  });
});

describe('a defect', () => {
  const secret = 'E11000 at mongodb://root:hunter2@10.0.0.1/plants';
  const { logger, lines: log } = capturedLog();
  const keys = { source: 'secret', algorithms: ['HS256'] } as const;
  const app = buildApp({
    http: { trustedProxies: [] },
    accessTokens: { tokens: { keys, clockToleranceMs: 0 }, secret: TEST_SECRET },
    createPlant: {
      createPlant: ({ plant }) =>
        plant.name === 'good' ? Promise.resolve('created') : Promise.reject(new Error(secret)),
      now: () => performance.now(),
    },
    events: apiEvents({
      logger,
      registry: createRegistry('api'),
      database: { fails: () => {}, works: () => {}, failing: () => false },
      creates: { waiting: () => 0, waitingMax: 1 },
    }),
    tracing: undefined,
    admission: { isFull: () => false, refused: () => {} },
    closing: () => false,
  });
  let url: string;
  beforeAll(async () => {
    url = await (await app).listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => (await app).close());

  test('is answered with 5000 and tells nothing of itself; the log tells it all, once; the next request is served', async () => {
    const { status, headers, body } = await postPlant(url, { id: 1n, name: 'bad' });
    expect({ status, body }).toEqual({
      status: 500,
      body: { error: 5000, message: 'a defect of this service: report it with the X-Request-Id' },
    });
    expect(JSON.stringify([...headers])).not.toMatch(/E11000|hunter2|mongodb/);

    expect(log.filter(({ err }) => err !== undefined)).toEqual([
      expect.objectContaining({ msg: 'defect', err: expect.objectContaining({ message: secret }) }),
    ]);
    expect(log).toContainEqual(
      expect.objectContaining({ request: headers.get('x-request-id'), error: 5000 }),
    );
    expect(await postPlant(url, { id: 1n, name: 'good' })).toMatchObject({ status: 200 });
  });
});

describe('the headers of answers', () => {
  const software = /node|fastify|express|undici|nginx\/|\d+\.\d+\.\d+/i;
  const telling = ['server', 'x-powered-by', 'via', 'x-runtime', 'x-aspnet-version'];

  async function answers(url: string): Promise<Response[]> {
    const post = (headers: Record<string, string>) =>
      fetch(`${url}/plants`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: plantJson({ id: freshId(), name: 'Monstera' }),
      });
    return [
      await post({ authorization: `Bearer ${token()}` }),
      await post({}),
      await fetch(`${url}/plants`),
      await fetch(`${url}/`),
    ];
  }

  test('of the API name no software, and say what the body is', async () => {
    for (const { headers } of await answers(api.url)) {
      expect(telling.filter((header) => headers.has(header))).toEqual([]);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  describe.skipIf(installedNginx === undefined)('through the gateway', () => {
    let gateway: RunningGateway;
    beforeAll(async () => {
      gateway = await startGateway({ upstreams: [new URL(api.url).host] });
    });
    afterAll(() => gateway?.[Symbol.asyncDispose]());

    test('name no version, and forbid to guess what the body is', async () => {
      for (const { headers } of await answers(gateway.url)) {
        for (const header of telling) expect(headers.get(header) ?? '').not.toMatch(software);
        expect(headers.get('content-type')).toMatch(/^application\/json/);
        expect(headers.get('x-content-type-options')).toBe('nosniff');
      }
    });
  });
});
