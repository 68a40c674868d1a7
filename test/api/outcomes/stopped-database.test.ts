import { afterEach, expect, test } from 'vitest';
import { freshId } from '../../harness/api/post-plant.ts';
import { create, outcomeOf } from './disturbed-api.ts';
import { privateApi } from './private-api.ts';

const api = privateApi();

afterEach(() => api.mongod.signal('SIGCONT'));

const createOne = async (id: bigint, name = 'a') => outcomeOf(await create(api.replica, { id, name }));

test('a write that lands late, after the database was stopped: 5002, then the retry with the key gets 200', async () => {
  const id = freshId();
  api.mongod.signal('SIGSTOP');
  expect(await createOne(id)).toBe(5002);
  api.mongod.signal('SIGCONT');
  await api.recovered();
  expect([200, 'replayed']).toContain(await createOne(id));
  expect(await createOne(id)).toBe('replayed');
  expect(await api.plants.countDocuments({ _id: id })).toBe(1);
});

test('under load, each answer comes in time and stays true after the late writes have landed', async () => {
  const ids = Array.from({ length: 120 }, freshId);
  await using other = await api.another();
  await create(other, { id: freshId(), name: 'warm' });
  const stopAfter = 40;
  const outcomes = await Promise.all(
    ids.map(async (id, index) => {
      if (index === stopAfter) api.mongod.signal('SIGSTOP');
      return outcomeOf(await create(index % 2 ? api.replica : other, { id, name: 'a' }));
    }),
  );
  api.mongod.signal('SIGCONT');
  await api.recovered();

  const of = (outcome: unknown) => ids.filter((_, index) => outcomes[index] === outcome);
  expect(new Set(outcomes).isSubsetOf(new Set([200, 5001, 5002]))).toBe(true);
  expect(of(5002).length).toBeGreaterThan(0);

  // 200: stored. 5002: the retry with the key resolves it. 5001: not stored for certain, so the id is free for another.
  expect(await api.plants.countDocuments({ _id: { $in: of(200) } })).toBe(of(200).length);
  for (const outcome of await Promise.all(of(5002).map((id) => createOne(id)))) {
    expect([200, 'replayed']).toContain(outcome);
  }
  expect(await Promise.all(of(5001).map((id) => createOne(id, 'another')))).toEqual(of(5001).map(() => 200));
  expect(await api.plants.countDocuments({ _id: { $in: ids } })).toBe(ids.length);
});

test('a database that crashes and comes back: what was 200 is there', async () => {
  const ids = Array.from({ length: 200 }, freshId);
  const outcomes = await Promise.all(
    ids.map(async (id, index) => {
      if (index === 50) void api.mongod.kill();
      return createOne(id);
    }),
  );
  await api.mongod.start();
  await api.recovered();
  const of = (outcome: unknown) => ids.filter((_, index) => outcomes[index] === outcome);
  expect(await api.plants.countDocuments({ _id: { $in: of(200) } })).toBe(of(200).length);
  expect(await Promise.all(of(5001).map((id) => createOne(id, 'another')))).toEqual(of(5001).map(() => 200));
  for (const outcome of await Promise.all(of(5002).map((id) => createOne(id)))) {
    expect([200, 'replayed']).toContain(outcome);
  }
});
