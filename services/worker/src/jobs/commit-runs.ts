import { type Batcher, createBatcher } from '@plant-store/platform/batcher';
import type { PoisonPlant } from './pending-plants.ts';
import { type CommitReport, type ProcessingDeps, processCommits } from './process-commits.ts';

/** One run takes this many plants, as their announcers counted them, or one commit. */
const RUN_PLANTS_MAX = 8_000;
/** What a commit is taken for when nobody counted. */
const COMMIT_PLANTS = 500;
/** Plants worked on at once in a run; halved whenever the database does not keep up, down to the least. */
const PAGE_PLANTS_MAX = 2_000;
const PAGE_PLANTS_MIN = 125;
/** A run in flight for so long no longer holds back the next one, so that reading, hashing and writing overlap. */
const SLOW_AFTER_MS = 15;
const RUNS_MAX = 2;

export type AnnouncedCommit = { commit: string; plants: number };

export type CommitOutcome =
  | { outcome: 'done'; plants: number }
  | { outcome: 'poisoned'; poison: PoisonPlant[] }
  /** The database, not the commit, is the cause: the same will do later. */
  | { outcome: 'database-away'; error: unknown }
  | { outcome: 'failed'; error: unknown };

export type CommitRunsDeps = ProcessingDeps & {
  isDatabaseAway: (error: unknown) => boolean;
  on: { ran: (commits: number, plants: number, ms: number) => void };
};

/** Lets one run handle the commits of many jobs, which costs the database a fraction of a run for each. */
export function createCommitRuns(
  deps: CommitRunsDeps,
  jobsMax: number,
): Batcher<AnnouncedCommit, CommitOutcome> {
  let pagePlants = PAGE_PLANTS_MAX;

  async function run(commits: readonly string[]): Promise<Map<string, CommitOutcome>> {
    const started = performance.now();
    try {
      const reports = await processCommits(deps, commits, pagePlants);
      pagePlants = Math.min(pagePlants * 2, PAGE_PLANTS_MAX);
      const plants = reports.reduce((sum, report) => sum + report.plants, 0);
      deps.on.ran(commits.length, plants, performance.now() - started);
      return new Map(reports.map((report) => [report.commit, outcomeOf(report)]));
    } catch (error) {
      if (deps.isDatabaseAway(error)) {
        pagePlants = Math.max(Math.ceil(pagePlants / 2), PAGE_PLANTS_MIN);
        return new Map(commits.map((commit) => [commit, { outcome: 'database-away', error }]));
      }
      if (commits.length === 1)
        return new Map(commits.map((commit) => [commit, { outcome: 'failed', error }]));
      return alone(commits);
    }
  }

  /** Nobody foresaw this failure, so one commit may be its cause: each is tried alone, and fails alone (E6). */
  async function alone(commits: readonly string[]): Promise<Map<string, CommitOutcome>> {
    const outcomes = new Map<string, CommitOutcome>();
    for (const commit of commits) {
      for (const [, outcome] of await run([commit])) outcomes.set(commit, outcome);
    }
    return outcomes;
  }

  return createBatcher<AnnouncedCommit, CommitOutcome>({
    process: async (announced) => {
      const outcomes = await run(announced.map(({ commit }) => commit));
      return announced.map(({ commit }) => outcomes.get(commit) as CommitOutcome);
    },
    failed: (error) => ({ outcome: 'failed', error }),
    refused: () => ({ outcome: 'failed', error: new Error('more commits wait than this worker takes jobs') }),
    keyOf: ({ commit }) => commit,
    sizeOf: ({ plants }) => plants || COMMIT_PLANTS,
    batchItemsMax: jobsMax,
    batchBytesMax: RUN_PLANTS_MAX,
    // A replaced BullMQ worker may still have jobs in hand.
    waitingItemsMax: 4 * jobsMax,
    waitingBytesMax: Number.POSITIVE_INFINITY,
    waitMsMax: 600_000,
    slowAfterMs: SLOW_AFTER_MS,
    batchesMax: RUNS_MAX,
  });
}

function outcomeOf({ plants, poison }: CommitReport): CommitOutcome {
  return poison.length === 0 ? { outcome: 'done', plants } : { outcome: 'poisoned', poison };
}
