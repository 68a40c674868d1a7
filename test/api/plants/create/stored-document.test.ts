import { createHash } from 'node:crypto';
import { Binary, ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { apiUnderTest, startReplica } from '../../../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../../../harness/api/post-plant.ts';
import { token } from '../../../harness/api/tokens.ts';
import { mongoProxy } from '../../../harness/network/mongo-proxy.ts';

const api = apiUnderTest({ INSTANCE: 'api-7' });
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test('a plant is stored with its pending flag, its origin and its creator, and nothing else', async () => {
  const id = freshId();
  const accessToken = token({
    claims: { sub: 's', iss: 'https://issuer.test', jti: 'j', scope: 'x', name: 'n' },
  });
  const before = Date.now();
  await postPlant(
    api.url,
    { id, name: 'Monstera', tag: 'indoor' },
    { accessToken, key: 'k', headers: { 'x-request-id': 'request-1' } },
  );
  const stored = await api.plants.findOne({ _id: id });
  expect(stored).toEqual({
    _id: id,
    name: 'Monstera',
    tag: 'indoor',
    created: expect.any(Date),
    commit: expect.any(ObjectId),
    pending: true,
    by: { sub: 's', iss: 'https://issuer.test', jti: 'j' },
    from: { address: '127.0.0.1', request: 'request-1', requestBy: 'client', instance: 'api-7' },
    key: new Binary(createHash('sha256').update('k').digest()),
  });
  expect(Number(stored?.created)).toBeGreaterThanOrEqual(before - 1);
});

test('what was not sent stays absent, and unknown fields leave no trace', async () => {
  const id = freshId();
  const body = `${plantJson({ id, name: 'a' }).slice(0, -1)},"pending":false,"commit":"x","by":{"sub":"root"},"_id":7}`;
  const response = await fetch(`${api.url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json' },
    body,
  });
  expect({ status: response.status, body: await response.text() }).toEqual({
    status: 200,
    body: '{"name":"a"}',
  });
  expect(await api.plants.findOne({ _id: id })).toEqual({
    _id: id,
    name: 'a',
    created: expect.any(Date),
    commit: expect.any(ObjectId),
    pending: true,
    by: { sub: 'gardener' },
    from: {
      address: '127.0.0.1',
      request: expect.stringMatching(uuid),
      requestBy: 'api',
      instance: 'api-7',
    },
  });
});

test.each(['a', 'A.b_c-9', 'x'.repeat(128)])('a well-formed X-Request-Id is kept: %s', async (given) => {
  const id = freshId();
  const { headers } = await postPlant(api.url, { id, name: 'a' }, { headers: { 'x-request-id': given } });
  expect(headers.get('x-request-id')).toBe(given);
  expect(await api.plants.findOne({ _id: id })).toMatchObject({ from: { request: given } });
});

test.each(['', 'a b', 'x'.repeat(129), 'a,b', '<b>', 'ä', '{"$gt":1}'])(
  'an X-Request-Id that is not is replaced: %s',
  async (given) => {
    const id = freshId();
    const { headers } = await postPlant(api.url, { id, name: 'a' }, { headers: { 'x-request-id': given } });
    const made = headers.get('x-request-id');
    expect(made).toMatch(uuid);
    expect(await api.plants.findOne({ _id: id })).toMatchObject({ from: { request: made } });
  },
);

test('the client’s address comes through trusted proxies alone', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
  await using behindProxy = await startReplica({ ...api.environment, TRUSTED_PROXIES: '127.0.0.0/8' });
  const direct = freshId();
  await postPlant(api.url, { id: direct, name: 'a' }, { headers });
  expect(await api.plants.findOne({ _id: direct })).toMatchObject({ from: { address: '127.0.0.1' } });
  const proxied = freshId();
  await postPlant(behindProxy.url, { id: proxied, name: 'a' }, { headers });
  expect(await api.plants.findOne({ _id: proxied })).toMatchObject({ from: { address: '198.51.100.7' } });
});

test('an address that is none is not believed, whoever says so', async () => {
  await using behindProxy = await startReplica({ ...api.environment, TRUSTED_PROXIES: '127.0.0.1' });
  for (const claimed of ['unknown', 'x'.repeat(10_000), '203.0.113.9, 1.2.3', '']) {
    const id = freshId();
    await postPlant(behindProxy.url, { id, name: 'a' }, { headers: { 'x-forwarded-for': claimed } });
    expect(await api.plants.findOne({ _id: id })).toMatchObject({ from: { address: '127.0.0.1' } });
  }
});

describe('who chose the request id is stored with it', () => {
  const throughGateway = { 'x-forwarded-for': '203.0.113.9' };
  const idOf = (by: string) => ({ 'x-request-id': 'request-1', 'x-request-id-by': by });

  test.each<[string, Record<string, string>, string]>([
    ['the gateway, which says so', { ...throughGateway, ...idOf('gateway') }, 'gateway'],
    ['a client, as the gateway says', { ...throughGateway, ...idOf('client') }, 'client'],
    ['somebody, of whom the gateway says nothing', { ...throughGateway, 'x-request-id': 'a' }, 'client'],
    ['somebody, of whom it says too much', { ...throughGateway, ...idOf('gateway, gateway') }, 'client'],
    ['the API, for want of a good one', { ...throughGateway, ...idOf('gateway'), 'x-request-id': '' }, 'api'],
  ])('behind the gateway: %s', async (_, headers, requestBy) => {
    await using behindGateway = await startReplica({ ...api.environment, TRUSTED_PROXIES: '127.0.0.1' });
    const id = freshId();
    await postPlant(behindGateway.url, { id, name: 'a' }, { headers });
    expect(await api.plants.findOne({ _id: id })).toMatchObject({ from: { requestBy } });
  });

  test('a client that is no trusted proxy cannot speak as one', async () => {
    const id = freshId();
    await postPlant(api.url, { id, name: 'a' }, { headers: { ...throughGateway, ...idOf('gateway') } });
    expect(await api.plants.findOne({ _id: id })).toMatchObject({ from: { requestBy: 'client' } });
  });
});

test('creates at once share commits', async () => {
  await using proxy = await mongoProxy(api.environment['MONGODB_URL'] as string);
  await using replica = await startReplica({ ...api.environment, MONGODB_URL: proxy.url });
  // While the first commit is on its way all others arrive; it holds them back for 250 ms at most.
  proxy.delay(100);
  const ids = Array.from({ length: 200 }, freshId);
  await Promise.all(ids.map((id) => postPlant(replica.url, { id, name: 'a' })));
  const commits = await api.plants.distinct('commit', { _id: { $in: ids } });
  expect(commits.length).toBeLessThan(20);
  expect(await api.plants.countDocuments({ _id: { $in: ids } })).toBe(200);
});
