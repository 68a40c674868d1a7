import { expect, test } from 'vitest';
import { apiUnderTest, startReplica } from '../../../harness/api/api.ts';
import { freshId, type PlantToSend, type PostOptions, postPlant } from '../../../harness/api/post-plant.ts';
import { token } from '../../../harness/api/tokens.ts';
import { mongoProxy } from '../../../harness/network/mongo-proxy.ts';

const api = apiUnderTest();
const asNeighbour = { accessToken: token({ claims: { sub: 'neighbour' } }) };

const answerTo = async (plant: PlantToSend, options?: PostOptions, url = api.url) => {
  const { status, body } = await postPlant(url, plant, options);
  return body.error ?? status;
};

test('1002: an id is unique for ever, and what stands under it never changes', async () => {
  const id = freshId();
  expect(await answerTo({ id, name: 'first', tag: 't' })).toBe(200);
  const stored = await api.plants.findOne({ _id: id });
  const others: PlantToSend[] = [
    { id, name: 'second', tag: 't' },
    { id, name: 'first' },
    { id, name: 'first', tag: '' },
    { id, name: 'first', tag: 'T' },
    { id, name: 'first\u0000', tag: 't' },
    { id, name: 'fi\u0301rst', tag: 't' },
  ];
  for (const other of others) expect(await answerTo(other)).toBe(1002);
  expect(await api.plants.findOne({ _id: id })).toEqual(stored);
});

test('1008: who repeats a plant of one’s own without a key learns that it exists', async () => {
  const id = freshId();
  expect(await answerTo({ id, name: 'a', tag: 't' })).toBe(200);
  expect(await answerTo({ id, name: 'a', tag: 't' })).toBe(1008);
  expect(await answerTo({ id: `${id}.0`, name: 'a', tag: 't' })).toBe(1008);
});

test('1002: the same plant from another subject tells nothing but that the id is taken', async () => {
  const id = freshId();
  expect(await answerTo({ id, name: 'a' })).toBe(200);
  expect(await answerTo({ id, name: 'a' }, asNeighbour)).toBe(1002);
  expect(await answerTo({ id, name: 'b' }, asNeighbour)).toBe(1002);
});

test('1002: a subject of the same name at another issuer is another subject', async () => {
  const id = freshId();
  const from = (iss?: string) => ({ accessToken: token({ claims: { iss } }) });
  expect(await answerTo({ id, name: 'a' }, from('https://one.test'))).toBe(200);
  expect(await answerTo({ id, name: 'a' }, from('https://two.test'))).toBe(1002);
  expect(await answerTo({ id, name: 'a' }, from())).toBe(1002);
  expect(await answerTo({ id, name: 'a' }, from('https://one.test'))).toBe(1008);
});

test('of many that want an id at once, over two replicas, one gets 200 and its plant', async () => {
  await using other = await startReplica(api.environment);
  for (let round = 0; round < 10; round++) {
    const id = freshId();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        answerTo({ id, name: `wish ${n}` }, {}, n % 2 ? api.url : other.url),
      ),
    );
    expect(answers.toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 1002)].toSorted());
    expect(await api.plants.findOne({ _id: id })).toMatchObject({ name: `wish ${answers.indexOf(200)}` });
  }
});

test('a duplicate changes no answer of those it is written with', async () => {
  const taken = Array.from({ length: 20 }, freshId);
  for (const id of taken) await answerTo({ id, name: 'first' });
  const ids = Array.from({ length: 100 }, (_, n) => (n % 5 === 0 ? (taken[n / 5] as bigint) : freshId()));
  // A replica that has not seen the ids sends them with the others; all but the first wait for the far database.
  await using proxy = await mongoProxy(api.environment['MONGODB_URL'] as string);
  await using other = await startReplica({ ...api.environment, MONGODB_URL: proxy.url });
  proxy.delay(100);
  const answers = await Promise.all(ids.map((id) => answerTo({ id, name: 'second' }, {}, other.url)));
  expect(answers).toEqual(ids.map((id) => (taken.includes(id) ? 1002 : 200)));
  const sent = proxy.seen('insert').map(({ body }) => body['documents'] as { _id: bigint }[]);
  const mixed = sent.filter(
    (documents) => new Set(documents.map(({ _id }) => taken.includes(_id))).size === 2,
  );
  expect(mixed.length).toBeGreaterThan(0);
});
