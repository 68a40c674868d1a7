import { expect, test, vi } from 'vitest';
import { type CommitDeps, commitPlants } from './commit-plants.ts';
import type { Creation } from './creation.ts';
import type { Commit, InsertReport, PlantStore, StoredPlant } from './plant-store.ts';

const DEADLINE = 4_000;
const creation = (id: bigint, more: Partial<Creation> = {}): Creation => ({
  plant: { id, name: `plant ${id}` },
  principal: { subject: 's' },
  origin: { address: '::1', request: 'r', requestBy: 'client' },
  deadline: DEADLINE,
  ...more,
});

type Reading = ReadonlyMap<bigint, StoredPlant> | undefined;

const ours: Commit = { id: 'ours', created: new Date(0) };

/** A store with scripted answers, each after so many milliseconds (or at the end of its budget, if that is sooner). */
function told(inserts: readonly InsertReport[], readings: readonly Reading[], ms = 1) {
  let clock = 0;
  const insertsLeft = [...inserts];
  const readingsLeft = [...readings];
  const takeTime = (budgetMs: number) => {
    expect(budgetMs).toBeGreaterThan(0);
    clock += Math.min(ms, budgetMs);
  };
  const store = {
    insert: vi.fn<PlantStore['insert']>(async (_commit, _creations, budgetMs) => {
      takeTime(budgetMs);
      return insertsLeft.shift() as InsertReport;
    }),
    read: vi.fn<PlantStore['read']>(async (_ids, budgetMs) => {
      takeTime(budgetMs);
      return readingsLeft.shift();
    }),
  };
  const publish = vi.fn<CommitDeps['publish']>();
  return { store, publish, newCommit: () => ours, now: () => clock };
}

const acknowledged: InsertReport = { sent: true, occupied: new Set() };
const unknown: InsertReport = { sent: true, occupied: 'unknown' };
const notSent: InsertReport = { sent: false };
const occupied = (...ids: bigint[]): InsertReport => ({ sent: true, occupied: new Set(ids) });

const nothing: Reading = new Map();
const found = (commit: string, ...ids: bigint[]): Reading =>
  new Map(ids.map((id) => [id, { plant: creation(id).plant, principal: { subject: 's' }, commit }]));

test('an acknowledged insert is created, without a read', async () => {
  const deps = told([acknowledged], []);
  expect(await commitPlants(deps, [creation(1n), creation(2n)])).toEqual(['created', 'created']);
  expect(deps.store.read).not.toHaveBeenCalled();
});

test('what could not be sent at once is tried once more, and what could not be sent at all is not stored', async () => {
  const soon = told([notSent, acknowledged], []);
  expect(await commitPlants(soon, [creation(1n)])).toEqual(['created']);

  const never = told([notSent, notSent], []);
  expect(await commitPlants(never, [creation(1n)])).toEqual(['not-stored']);
  expect(never.store.insert).toHaveBeenCalledTimes(2);
  expect(never.publish).not.toHaveBeenCalled();
});

test('what was not sent after a long wait is not stored, and is neither read nor published', async () => {
  const deps = told([notSent], [], 1_200);
  expect(await commitPlants(deps, [creation(1n)])).toEqual(['not-stored']);
  expect(deps.store.insert).toHaveBeenCalledOnce();
  expect(deps.store.read).not.toHaveBeenCalled();
  expect(deps.publish).not.toHaveBeenCalled();
});

test('what is due before it could be sent is not sent', async () => {
  const deps = told([], []);
  expect(await commitPlants({ ...deps, now: () => DEADLINE - 10 }, [creation(1n)])).toEqual(['not-stored']);
});

test('only what was not acknowledged is read, and only what is absent is sent again, under the same commit', async () => {
  const deps = told([occupied(2n, 3n), occupied(3n)], [found('earlier', 2n), found('ours', 3n)]);
  const group = [creation(1n), creation(2n), creation(3n)];
  expect(await commitPlants(deps, group)).toEqual(['created', 'exists-identical', 'created']);
  expect(deps.store.insert.mock.calls.map(([commit, sent]) => [commit, sent])).toEqual([
    [ours, group],
    [ours, [group[2]]],
  ]);
  expect(deps.store.read.mock.calls.map(([ids]) => ids)).toEqual([[2n, 3n], [3n]]);
});

test('a resend that could not be sent does not make the first send undone', async () => {
  const deps = told([unknown, notSent], [nothing, nothing]);
  expect(await commitPlants(deps, [creation(1n)])).toEqual(['unknown']);
});

test('absent after the resend, and unreadable, are unknown', async () => {
  expect(await commitPlants(told([unknown, unknown], [nothing, nothing]), [creation(1n)])).toEqual([
    'unknown',
  ]);
  expect(await commitPlants(told([unknown], [undefined]), [creation(1n)])).toEqual(['unknown']);
  expect(await commitPlants(told([occupied(1n)], [undefined]), [creation(1n)])).toEqual(['unknown']);
});

test.each([1, 500, 1_000, 1_500, 2_000, 4_000])(
  'is over by the earliest deadline, when each answer takes %i ms',
  async (ms) => {
    const deps = told([unknown, unknown], [nothing, nothing], ms);
    await commitPlants(deps, [creation(1n), creation(2n, { deadline: DEADLINE / 2 })]);
    expect(deps.now()).toBeLessThanOrEqual(DEADLINE / 2);
  },
);

test('a commit is published once its outcomes are resolved, with what is or may be stored of it', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const deps = told([occupied(2n), unknown], [nothing, undefined]);
  await commitPlants(deps, [creation(1n), creation(2n, { traceparent })]);
  expect(deps.publish.mock.calls).toEqual([['ours', 2, traceparent]]);
});

test('a commit of which nothing can be stored is not published', async () => {
  const deps = told([occupied(1n)], [found('earlier', 1n)]);
  await commitPlants(deps, [creation(1n)]);
  expect(deps.publish).not.toHaveBeenCalled();
});
