import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { type CommitBatchesDeps, createCommitBatches } from './commit-batches.ts';

class Away extends Error {}

const plant = (id: bigint, commit: string): PlantDocument => ({
  _id: id,
  name: `plant ${id}`,
  created: new Date(),
  commit: new ObjectId(commit),
  pending: true,
  by: { sub: 's' },
  from: { address: 'a', request: 'r', instance: 'i' },
});

const commits = Array.from({ length: 8 }, (_, index) => index.toString(16).padStart(24, '0'));

/** Eight commits of one plant each, pending in memory. */
function memory(over: Partial<CommitBatchesDeps> = {}) {
  const pending = new Map(commits.map((commit, index) => [commit, plant(BigInt(index), commit)]));
  const batches: number[] = [];
  const pages: number[] = [];
  const deps: CommitBatchesDeps = {
    pending: {
      async *pages(asked, plantsMax) {
        pages.push(plantsMax);
        const found = asked.flatMap((commit) => pending.get(commit) ?? []);
        if (found.length > 0) yield found;
      },
      clear: async (plants) => {
        for (const { commit } of plants) pending.delete(commit.toHexString());
      },
    },
    index: async () => new Map(),
    audit: async () => new Map(),
    isDatabaseAway: (error) => error instanceof Away,
    on: { indexed: () => {}, strayed: () => {}, processed: (count) => void batches.push(count) },
    ...over,
  };
  return { deps, pending, batches, pages };
}

/** The commits from one to another, as a job names them. */
const job = (from: number, to = from + 1, plants = 1) =>
  commits.slice(from, to).map((commit) => ({ commit, plants }));

const submitAll = (deps: CommitBatchesDeps) => {
  const batches = createCommitBatches(deps, 64);
  return Promise.all(commits.map((_, index) => batches.submit(job(index))));
};

test('jobs that are submitted while a batch is in flight share the next one', async () => {
  const { deps, pending, batches } = memory();
  expect(await submitAll(deps)).toEqual(commits.map(() => ({ outcome: 'done', plants: 1 })));
  expect(batches).toEqual([1, 7]);
  expect(pending.size).toBe(0);
});

test('there is never more than one batch in flight, however long it takes', async () => {
  let inFlight = 0;
  let most = 0;
  const { deps } = memory({
    index: async () => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 40));
      inFlight--;
      return new Map();
    },
  });
  await submitAll(deps);
  expect(most).toBe(1);
});

test('a commit that two jobs of a batch name is processed once, and both are done', async () => {
  const { deps, batches } = memory();
  const submitted = createCommitBatches(deps, 64);
  const outcomes = [job(0), job(1, 4), job(2, 6)].map((commits) => submitted.submit(commits));
  expect((await Promise.all(outcomes)).map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
  expect(batches).toEqual([1, 5]);
});

test('a commit that fails for a reason nobody foresaw fails alone, whatever shares its batch', async () => {
  const { deps, pending } = memory({
    index: async (entries) => {
      if (entries.some(({ _id }) => _id === 3n)) throw new Error('nobody foresaw this');
      return new Map();
    },
  });
  const outcomes = (await submitAll(deps)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(commits.map((_, index) => (index === 3 ? 'failed' : 'done')));
  expect([...pending.keys()]).toEqual([commits[3]]);
});

test('a job of several commits fails with all the reasons of those that failed, and the others are processed', async () => {
  const { deps, pending } = memory({
    audit: async () => new Map([2n, 5n].map((id) => [id, `rejected ${id}`])),
  });
  expect(await createCommitBatches(deps, 64).submit(job(0, 8))).toEqual({
    outcome: 'failed',
    poison: [2, 5].map((id) => ({
      plant: String(id),
      commit: commits[id],
      request: 'r',
      reason: `rejected ${id}`,
    })),
    errors: [],
  });
  expect([...pending.keys()]).toEqual([commits[2], commits[5]]);
});

test('while the database is away nothing is blamed on a commit, and pages shrink to what it may manage', async () => {
  let away = true;
  const { deps, pages } = memory({
    index: async () => {
      if (away) throw new Away();
      return new Map();
    },
  });
  const batches = createCommitBatches(deps, 64);
  for (let attempt = 0; attempt < 10; attempt++) {
    expect(await batches.submit(job(0))).toMatchObject({ outcome: 'database-away' });
  }
  away = false;
  expect(await batches.submit(job(0))).toEqual({ outcome: 'done', plants: 1 });
  await batches.submit(job(0));
  expect(pages.slice(0, 6)).toEqual([2_000, 1_000, 500, 250, 125, 125]);
  expect(pages.at(-1)).toBe(250);
});

test('a batch takes no more plants than it may, as far as they were counted', async () => {
  const { deps, batches } = memory();
  const submitted = createCommitBatches(deps, 64);
  await Promise.all(commits.map((_, index) => submitted.submit(job(index, index + 1, 5_000))));
  expect(Math.max(...batches)).toBe(1);
});

test('plants that are rejected poison their own commit, with the reason', async () => {
  const { deps } = memory({ audit: async () => new Map([[5n, 'rejected']]) });
  const outcomes = await submitAll(deps);
  expect(outcomes[5]).toEqual({
    outcome: 'failed',
    poison: [{ plant: '5', commit: commits[5], request: 'r', reason: 'rejected' }],
    errors: [],
  });
  expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(7);
});
