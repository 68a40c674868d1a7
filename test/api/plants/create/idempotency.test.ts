import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { apiUnderTest, startReplica } from '../../../harness/api/api.ts';
import {
  type Answer,
  freshId,
  type PlantToSend,
  type PostOptions,
  postPlant,
} from '../../../harness/api/post-plant.ts';
import { token } from '../../../harness/api/tokens.ts';

const api = apiUnderTest();
const key = '8e03978e-40d5-43dd-bc93-6894a57f9324';

const post = (plant: PlantToSend, options: PostOptions = { key }, url = api.url) =>
  postPlant(url, plant, options);
const outcome = ({ status, headers, body }: Answer) =>
  headers.get('idempotency-replayed') === 'true' ? 'replayed' : (body.error ?? status);

describe('the same key, plant and subject get the first answer again', () => {
  test('from the same replica, as often as asked', async () => {
    const plant = { id: freshId(), name: 'a', tag: 't' };
    const first = await post(plant);
    expect(outcome(first)).toBe(200);
    for (let times = 0; times < 3; times++) {
      const again = await post(plant);
      expect(outcome(again)).toBe('replayed');
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
    }
  });

  test('from another replica, and after a restart', async () => {
    const plant = { id: freshId(), name: 'a' };
    const before = await startReplica(api.environment);
    expect(outcome(await post(plant, { key }, before.url))).toBe(200);
    expect(outcome(await post(plant))).toBe('replayed');
    await before.close();
    await using after = await startReplica(api.environment);
    expect(outcome(await post(plant, { key }, after.url))).toBe('replayed');
  });

  test('with another token of the subject, another spelling of the id, and the key in quotes', async () => {
    const id = freshId();
    expect(outcome(await post({ id, name: 'a' }))).toBe(200);
    const accessToken = token({ claims: { jti: 'another', scope: 'b' } });
    expect(outcome(await post({ id: `${id}.0e0`, name: 'a' }, { key: `"${key}"`, accessToken }))).toBe(
      'replayed',
    );
  });

  test('quoted first and bare later, escapes undone', async () => {
    const id = freshId();
    expect(outcome(await post({ id, name: 'a' }, { key: '"say \\"hi\\""'.replaceAll(' ', '-') }))).toBe(200);
    expect(outcome(await post({ id, name: 'a' }, { key: 'say-"hi"' }))).toBe('replayed');
  });

  test('with one write: nothing of the plant changes', async () => {
    const id = freshId();
    await post({ id, name: 'a' });
    const stored = await api.plants.findOne({ _id: id });
    await post({ id, name: 'a' });
    expect(await api.plants.findOne({ _id: id })).toEqual(stored);
    expect(inspect(stored, { depth: null })).not.toContain(key);
  });
});

test('1006: the key was used for this id with other content', async () => {
  const id = freshId();
  await post({ id, name: 'a', tag: 't' });
  for (const other of [
    { id, name: 'b', tag: 't' },
    { id, name: 'a' },
    { id, name: 'a', tag: '' },
  ]) {
    expect(outcome(await post(other))).toBe(1006);
  }
  expect(outcome(await post({ id, name: 'a', tag: 't' }))).toBe('replayed');
});

test('a key belongs to one id: with another id it is new', async () => {
  expect(outcome(await post({ id: freshId(), name: 'a' }))).toBe(200);
  expect(outcome(await post({ id: freshId(), name: 'b' }))).toBe(200);
});

test('a key belongs to its subject: another one’s proves nothing', async () => {
  const id = freshId();
  await post({ id, name: 'a' });
  const accessToken = token({ claims: { sub: 'neighbour' } });
  expect(outcome(await post({ id, name: 'a' }, { key, accessToken }))).toBe(1002);
  expect(outcome(await post({ id, name: 'b' }, { key, accessToken }))).toBe(1002);
});

test('another key, or none, proves nothing: 1008 for the same plant, 1002 for another', async () => {
  const id = freshId();
  await post({ id, name: 'a' });
  for (const options of [{ key: key.toUpperCase() }, { key: `${key}x` }, {}]) {
    expect(outcome(await post({ id, name: 'a' }, options))).toBe(1008);
    expect(outcome(await post({ id, name: 'b' }, options))).toBe(1002);
  }
});

test('a plant created without a key is not replayed to one that comes later', async () => {
  const id = freshId();
  await post({ id, name: 'a' }, {});
  expect(outcome(await post({ id, name: 'a' }))).toBe(1008);
});

test('ten equal requests at once, over two replicas: one plant and ten times 200', async () => {
  await using other = await startReplica(api.environment);
  for (let round = 0; round < 10; round++) {
    const plant = { id: freshId(), name: 'a' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => post(plant, { key }, n % 2 ? api.url : other.url)),
    );
    expect(answers.map(outcome).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 'replayed')]);
    expect(await api.plants.countDocuments({ _id: plant.id })).toBe(1);
  }
});
