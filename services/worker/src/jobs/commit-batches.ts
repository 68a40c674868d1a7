import type { PendingCommit } from '@plant-store/contracts/creation-job';
import { type Batcher, createBatcher } from '@plant-store/platform/concurrency/batcher';
import type { PoisonPlant } from './pending-plants.ts';
import { type CommitReport, type ProcessingDeps, processCommits } from './process-commits.ts';

/** One batch takes this many plants, as their publishers counted them, or one job. */
const BATCH_PLANTS_MAX = 8_000;
/** What a commit is taken for when nobody counted. */
const COMMIT_PLANTS = 500;
/** Plants worked on at once in a batch; halved whenever the database does not keep up, down to the least. */
const PAGE_PLANTS_MAX = 2_000;
const PAGE_PLANTS_MIN = 125;
/** Two in flight would be smaller each, and cost a plant 15 % more. */
const BATCHES_MAX = 1;
/** Longer than any job is in hand: what waits is bounded by the jobs that a worker takes. */
const WAIT_MS_MAX = 3_600_000;

type CommitsOutcome =
  | { outcome: 'done'; plants: number }
  /** The database, not a commit, is the cause: the same will do later. */
  | { outcome: 'database-away'; error: unknown }
  /** Of plants that cannot be processed, or of something nobody foresaw. */
  | { outcome: 'failed'; poison: readonly PoisonPlant[]; errors: readonly unknown[] };

export type CommitBatches = Batcher<readonly PendingCommit[], CommitsOutcome>;

export type CommitBatchesDeps = ProcessingDeps & {
  isDatabaseAway: (error: unknown) => boolean;
  on: { processed: (commits: number, plants: number, ms: number) => void };
};

/** Lets one batch process the commits of many jobs, which costs the database a fraction of a batch for each. */
export function createCommitBatches(deps: CommitBatchesDeps, jobsMax: number): CommitBatches {
  let pagePlants = PAGE_PLANTS_MAX;

  async function processTogether(commits: readonly string[]): Promise<Map<string, CommitsOutcome>> {
    const started = performance.now();
    try {
      const reports = await processCommits(deps, commits, pagePlants);
      pagePlants = Math.min(pagePlants * 2, PAGE_PLANTS_MAX);
      const plants = reports.reduce((sum, report) => sum + report.plants, 0);
      deps.on.processed(commits.length, plants, performance.now() - started);
      return new Map(reports.map((report) => [report.commit, outcomeOf(report)]));
    } catch (error) {
      if (deps.isDatabaseAway(error)) {
        pagePlants = Math.max(Math.ceil(pagePlants / 2), PAGE_PLANTS_MIN);
        return new Map(commits.map((commit) => [commit, { outcome: 'database-away', error }]));
      }
      if (commits.length === 1)
        return new Map(commits.map((commit) => [commit, { outcome: 'failed', poison: [], errors: [error] }]));
      // Nobody foresaw this failure, so one commit may be its cause: it is found by halving, and fails alone (E6).
      const middle = Math.ceil(commits.length / 2);
      const first = await processTogether(commits.slice(0, middle));
      const second = await processTogether(commits.slice(middle));
      return new Map([...first, ...second]);
    }
  }

  return createBatcher<readonly PendingCommit[], CommitsOutcome>({
    process: async (jobs) => {
      const commits = new Set(jobs.flatMap((job) => job.map(({ commit }) => commit)));
      const outcomes = await processTogether([...commits]);
      return jobs.map((job) => outcomeOfAll(job.map(({ commit }) => outcomes.get(commit) as CommitsOutcome)));
    },
    failed: (error) => ({ outcome: 'failed', poison: [], errors: [error] }),
    refused: () => ({
      outcome: 'failed',
      poison: [],
      errors: [new Error('more jobs wait than this worker takes')],
    }),
    sizeOf: (job) => job.reduce((sum, { plants }) => sum + (plants || COMMIT_PLANTS), 0),
    batchItemsMax: jobsMax,
    batchBytesMax: BATCH_PLANTS_MAX,
    // A replaced BullMQ worker may still have jobs in hand.
    waitingItemsMax: 4 * jobsMax,
    waitingBytesMax: Number.POSITIVE_INFINITY,
    waitMsMax: WAIT_MS_MAX,
    slowAfterMs: WAIT_MS_MAX,
    batchesMax: BATCHES_MAX,
  });
}

function outcomeOf({ plants, poison }: CommitReport): CommitsOutcome {
  return poison.length === 0 ? { outcome: 'done', plants } : { outcome: 'failed', poison, errors: [] };
}

function outcomeOfAll(outcomes: readonly CommitsOutcome[]): CommitsOutcome {
  const away = outcomes.find(({ outcome }) => outcome === 'database-away');
  if (away !== undefined) return away;
  const failed = outcomes.filter((outcome) => outcome.outcome === 'failed');
  if (failed.length > 0)
    return {
      outcome: 'failed',
      poison: failed.flatMap(({ poison }) => poison),
      errors: failed.flatMap(({ errors }) => errors),
    };
  const done = outcomes.filter((outcome) => outcome.outcome === 'done');
  return { outcome: 'done', plants: done.reduce((sum, { plants }) => sum + plants, 0) };
}
