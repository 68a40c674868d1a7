import { expect, test, vi } from 'vitest';
import type { Creation } from './creation.ts';
import { groupCommit, groupRead } from './group-commit.ts';
import type { PlantStore, StoredPlant } from './plant-store.ts';

const creation = (id: bigint): Creation => ({
  plant: { id, name: 'a' },
  principal: { subject: 's' },
  origin: { address: '::1', request: 'r', requestBy: 'client' },
  deadline: 4_000,
});
const stored: StoredPlant = { plant: { id: 1n, name: 'a' }, principal: { subject: 's' }, commit: 'c' };

function reading(read: PlantStore['read']) {
  const defect = vi.fn();
  const store: PlantStore = { insert: async () => ({ sent: false }), read: vi.fn(read) };
  return { store, defect, rules: groupRead({ store, now: () => 0 }, defect) };
}

test('a read asks once for an id, whoever asks, and tells each of them', async () => {
  const { store, rules } = reading(async () => new Map([[1n, stored]]));
  expect(await rules.process([creation(1n), creation(2n), creation(1n)])).toEqual([stored, 'absent', stored]);
  expect(store.read).toHaveBeenCalledExactlyOnceWith([1n, 2n], expect.any(Number));
});

test('what cannot be read is unreadable for all', async () => {
  const { rules } = reading(async () => undefined);
  expect(await rules.process([creation(1n), creation(1n)])).toEqual(['unreadable', 'unreadable']);
});

test('a defect is reported, in a read and in a commit; whom it befell learns that nothing is known', () => {
  const error = new Error('a bug');
  const { store, rules, defect } = reading(async () => undefined);
  expect(rules.failed(error)).toBe('unreadable');
  expect(defect).toHaveBeenLastCalledWith(error);

  const deps = { store, newCommit: vi.fn(), publish: vi.fn(), now: () => 0 };
  expect(groupCommit(deps, defect).failed(error)).toBe('unknown');
  expect(defect).toHaveBeenCalledTimes(2);
});
