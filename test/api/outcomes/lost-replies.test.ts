import { afterEach, expect, test } from 'vitest';
import { freshId } from '../../harness/api/post-plant.ts';
import { create, disturbedApi, outcomeOf } from './disturbed-api.ts';

const api = disturbedApi();

/** What a test planned has happened, or it has shown nothing. */
afterEach(() => expect(api.proxy.planned()).toEqual([]));

/** Creates while the proxy does its worst, and tells how often the plant was sent. */
async function createDisturbed(id: bigint, name = 'a') {
  const before = api.proxy.seen('insert').length;
  const outcome = outcomeOf(await create(api.replica, { id, name }));
  return { outcome, sent: api.proxy.seen('insert').length - before };
}

const again = async (id: bigint, name = 'a') => outcomeOf(await create(api.replica, { id, name }));
const stored = (id: bigint) => api.plants.countDocuments({ _id: id });

test('a lost reply is resolved by reading: 200, sent once', async () => {
  api.proxy.plan('insert', 'lose reply');
  const id = freshId();
  expect(await createDisturbed(id)).toEqual({ outcome: 200, sent: 1 });
  expect(await stored(id)).toBe(1);
});

test('a reply that never comes is resolved likewise', async () => {
  api.proxy.plan('insert', 'swallow reply');
  const id = freshId();
  expect(await createDisturbed(id)).toEqual({ outcome: 200, sent: 1 });
  expect(await stored(id)).toBe(1);
});

test('a lost request is sent once more: 200', async () => {
  api.proxy.plan('insert', 'lose request');
  const id = freshId();
  expect(await createDisturbed(id)).toEqual({ outcome: 200, sent: 2 });
  expect(await stored(id)).toBe(1);
});

test('what is sent once more is the same document, to the time of its creation', async () => {
  api.proxy.plan('insert', 'lose request');
  const id = freshId();
  expect((await createDisturbed(id)).outcome).toBe(200);
  const [first, second] = api.proxy.seen('insert').slice(-2);
  expect(first?.body['documents']).toMatchObject([{ _id: id, created: expect.any(Date) }]);
  expect(second?.body['documents']).toEqual(first?.body['documents']);
});

test('the reply to the resend is lost as well: 200, for the plant is there', async () => {
  api.proxy.plan('insert', 'lose request', 'lose reply');
  const id = freshId();
  expect(await createDisturbed(id)).toEqual({ outcome: 200, sent: 2 });
  expect(await stored(id)).toBe(1);
});

test('the resend is lost as well: 5002, and the retry creates', async () => {
  api.proxy.plan('insert', 'lose request', 'lose request');
  const id = freshId();
  expect(await createDisturbed(id)).toEqual({ outcome: 5002, sent: 2 });
  expect(await stored(id)).toBe(0);
  expect(await again(id)).toBe(200);
});

test('the read that resolves it is lost too: 5002, and the retry replays', async () => {
  api.proxy.plan('insert', 'lose reply');
  api.proxy.plan('find', 'lose reply');
  const id = freshId();
  expect((await createDisturbed(id)).outcome).toBe(5002);
  expect(await again(id)).toBe('replayed');
  expect(await again(id, 'other content')).toBe(1006);
  expect(await stored(id)).toBe(1);
});

test('the reply is lost and then the database is unreachable: 5002, and after that the retry replays', async () => {
  api.proxy.plan('insert', 'lose reply, then refuse');
  const id = freshId();
  expect((await createDisturbed(id)).outcome).toBe(5002);
  expect(await again(freshId())).toBe(5001);
  await api.proxy.accept();
  await api.recovered();
  expect(await again(id)).toBe('replayed');
  expect(await stored(id)).toBe(1);
});

test('of a whole commit whose reply is lost each plant is resolved by itself', async () => {
  const taken = freshId();
  const mine = freshId();
  await create(api.replica, { id: taken, name: 'first' }, { subject: 'neighbour' });
  await create(api.replica, { id: mine, name: 'first' });
  const fresh = Array.from({ length: 60 }, freshId);
  const plants = [
    { id: taken, name: 'first', outcome: 1002 },
    { id: mine, name: 'first', outcome: 'replayed' },
    { id: mine, name: 'second', outcome: 1006 },
    ...fresh.map((id) => ({ id, name: 'a', outcome: 200 })),
  ];
  // One that has not seen the ids sends them with the others, instead of keeping them apart.
  await using other = await api.another();
  const before = api.proxy.seen('insert').length;
  // The first commit holds the first plant; the second what has come until the first is resolved.
  api.proxy.plan('insert', 'lose reply', 'lose reply');
  const outcomes = await Promise.all(
    plants.map(async (plant) => ({ ...plant, outcome: outcomeOf(await create(other, plant)) })),
  );
  expect(outcomes).toEqual(plants);
  expect(await api.plants.countDocuments({ _id: { $in: fresh } })).toBe(fresh.length);
  const [, second] = api.proxy.seen('insert').slice(before);
  expect(second?.body['documents'].length).toBeGreaterThan(1);
});

test('of many creates at once every other commit loses its reply or request: all 200, each stored once', async () => {
  const lost = ['lose reply', 'lose request', 'swallow reply', 'lose reply'] as const;
  api.proxy.plan('insert', ...lost.flatMap((fault) => [fault, 'pass'] as const));
  while (api.proxy.planned().length > 0) {
    const ids = Array.from({ length: 50 }, freshId);
    expect(await Promise.all(ids.map((id) => again(id)))).toEqual(ids.map(() => 200));
    expect(await api.plants.countDocuments({ _id: { $in: ids } })).toBe(ids.length);
  }
});

test('inserts wait for a journaled majority, and reads that resolve outcomes are majority reads', () => {
  for (const { body } of api.proxy.seen('insert').filter((insert) => insert.body['insert'] === 'plants')) {
    expect(body['writeConcern']).toEqual({ w: 'majority', j: true });
  }
  const reads = api.proxy.seen('find');
  expect(reads.length).toBeGreaterThan(5);
  for (const { body } of reads)
    expect(body).toMatchObject({ find: 'plants', readConcern: { level: 'majority' } });
});
