import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { type CommitRunsDeps, createCommitRuns } from './commit-runs.ts';

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
function memory(over: Partial<CommitRunsDeps> = {}) {
  const pending = new Map(commits.map((commit, index) => [commit, plant(BigInt(index), commit)]));
  const runs: number[] = [];
  const pages: number[] = [];
  const deps: CommitRunsDeps = {
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
    on: { indexed: () => {}, ran: (count) => void runs.push(count) },
    ...over,
  };
  return { deps, pending, runs, pages };
}

const submitAll = (deps: CommitRunsDeps) => {
  const runs = createCommitRuns(deps, 64);
  return Promise.all(commits.map((commit) => runs.submit({ commit, plants: 1 })));
};

test('commits that are submitted while a run is in flight share the next one', async () => {
  const { deps, pending, runs } = memory();
  expect(await submitAll(deps)).toEqual(commits.map(() => ({ outcome: 'done', plants: 1 })));
  expect(runs).toEqual([1, 7]);
  expect(pending.size).toBe(0);
});

test('a commit that fails for a reason nobody foresaw fails alone', async () => {
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

test('while the database is away nothing is blamed on a commit, and pages shrink to what it may manage', async () => {
  let away = true;
  const { deps, pages } = memory({
    index: async () => {
      if (away) throw new Away();
      return new Map();
    },
  });
  const runs = createCommitRuns(deps, 64);
  const [commit] = commits as [string];
  for (let attempt = 0; attempt < 10; attempt++) {
    expect(await runs.submit({ commit, plants: 1 })).toMatchObject({ outcome: 'database-away' });
  }
  away = false;
  expect(await runs.submit({ commit, plants: 1 })).toEqual({ outcome: 'done', plants: 1 });
  await runs.submit({ commit, plants: 1 });
  expect(pages.slice(0, 6)).toEqual([2_000, 1_000, 500, 250, 125, 125]);
  expect(pages.at(-1)).toBe(250);
});

test('a run takes no more plants than it may, as far as they were counted', async () => {
  const { deps, runs } = memory();
  const batcher = createCommitRuns(deps, 64);
  await Promise.all(commits.map((commit) => batcher.submit({ commit, plants: 5_000 })));
  expect(Math.max(...runs)).toBe(1);
});

test('plants that are rejected poison their own commit, with the reason', async () => {
  const { deps } = memory({ audit: async () => new Map([[5n, 'rejected']]) });
  const outcomes = await submitAll(deps);
  expect(outcomes[5]).toEqual({
    outcome: 'poisoned',
    poison: [{ plant: '5', commit: commits[5], request: 'r', reason: 'rejected' }],
  });
  expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(7);
});
