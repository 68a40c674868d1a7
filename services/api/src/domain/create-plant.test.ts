import { expect, test, vi } from 'vitest';
import { createPlant } from './create-plant.ts';
import type { Creation, Outcome } from './creation.ts';
import type { StoredPlant } from './plant-store.ts';
import { recentIds } from './recent-ids.ts';

const creation: Creation = {
  plant: { id: 1n, name: 'a' },
  principal: { subject: 's' },
  origin: { address: '::1', request: 'r', requestBy: 'client' },
  keyHash: 'k',
  deadline: 4_000,
};
const stored: StoredPlant = {
  plant: creation.plant,
  principal: creation.principal,
  commit: 'earlier',
  keyHash: 'k',
};

function useCase(
  seen: readonly bigint[],
  reading: StoredPlant | 'absent' | 'unreadable',
  joined: Outcome = 'created',
) {
  const ids = recentIds(100);
  for (const id of seen) ids.set(id, 'stored');
  const joinCommit = vi.fn(async () => joined);
  const readTogether = vi.fn(async () => reading);
  return { create: createPlant({ joinCommit, readTogether, recentIds: ids }), joinCommit, readTogether, ids };
}

test('an id that was not seen joins the next commit, without a read', async () => {
  const { create, readTogether } = useCase([], stored);
  expect(await create(creation)).toBe('created');
  expect(readTogether).not.toHaveBeenCalled();
});

test.each<[string, Partial<StoredPlant>, Outcome]>([
  ['the same again', {}, 'replayed'],
  ['other content', { plant: { id: 1n, name: 'b' } }, 'key-reused'],
  ['another subject', { principal: { subject: 'x' } }, 'exists'],
])('an id that was seen is resolved by a read and kept out of commits: %s', async (_, found, outcome) => {
  const { create, joinCommit } = useCase([1n], { ...stored, ...found });
  expect(await create(creation)).toBe(outcome);
  expect(joinCommit).not.toHaveBeenCalled();
});

test('an id that was seen and is gone, because a failover rolled it back, goes the ordinary way', async () => {
  const { create, joinCommit } = useCase([1n], 'absent');
  expect(await create(creation)).toBe('created');
  expect(joinCommit).toHaveBeenCalledOnce();
});

test('an id that was seen and cannot be read is unknown: an earlier request with its key may have stored it', async () => {
  const { create, joinCommit } = useCase([1n], 'unreadable');
  expect(await create(creation)).toBe('unknown');
  expect(joinCommit).not.toHaveBeenCalled();
});

test('of many creations of one id one joins a commit; the others share what became of it', async () => {
  for (const [joined, others, reads] of [
    ['created', 'replayed', 9],
    ['exists', 'replayed', 9],
    ['unknown', 'unknown', 0],
    ['not-stored', 'not-stored', 0],
  ] as const) {
    const { create, joinCommit, readTogether } = useCase([], stored, joined);
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => create(creation)));
    expect(outcomes).toEqual([joined, ...Array.from({ length: 9 }, () => others)]);
    expect(joinCommit).toHaveBeenCalledOnce();
    expect(readTogether).toHaveBeenCalledTimes(reads);
  }
});

test('once its outcome is told, an id may join a commit again', async () => {
  const { create, joinCommit } = useCase([], stored, 'not-stored');
  await create(creation);
  await create(creation);
  expect(joinCommit).toHaveBeenCalledTimes(2);
});

test('only ids of plants that are there are remembered', async () => {
  for (const outcome of ['created', 'replayed', 'exists', 'exists-identical', 'key-reused'] as const) {
    const { create, ids } = useCase([], 'absent', outcome);
    await create(creation);
    expect(ids.get(1n)).toBe('stored');
  }
  for (const outcome of ['unknown', 'not-stored'] as const) {
    const { create, ids } = useCase([], 'absent', outcome);
    await create(creation);
    expect(ids.get(1n)).toBeUndefined();
  }
});
