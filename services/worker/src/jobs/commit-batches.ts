import type { PublishedCommit } from '@plant-store/contracts/creation-job';
import { type Batcher, createBatcher } from '@plant-store/platform/concurrency/batcher';
import type { TracedJobs } from '../tracing/traced-jobs.ts';
import type { PoisonPlant } from './pending-plants.ts';
import { type CommitReport, type ProcessingDeps, processCommits } from './process-commits.ts';

/** A batch takes jobs up to this many plants (as their publishers counted them), and always at least one job. */
const BATCH_PLANTS_MAX = 8_000;
/** Assumed number of plants of a commit whose publisher did not count them. */
const COMMIT_PLANTS = 500;
/** Plants processed together in a batch: halved whenever the database does not keep up, down to PAGE_PLANTS_MIN. */
const PAGE_PLANTS_MAX = 2_000;
const PAGE_PLANTS_MIN = 125;
/** Two batches at once would each be smaller, which costs 15 % more per plant. */
const BATCHES_MAX = 1;
/** Longer than any job is active. The number of waiting jobs is bounded by how many a worker takes at once. */
const WAIT_MS_MAX = 3_600_000;

type CommitsOutcome =
  | { outcome: 'done'; plants: number }
  /** The database is the cause, not a commit: the same commits can be processed later. */
  | { outcome: 'database-away'; error: unknown }
  /** Caused by plants that cannot be processed, or by an unexpected error. */
  | { outcome: 'failed'; poison: readonly PoisonPlant[]; errors: readonly unknown[] };

export type CommitBatches = Batcher<readonly PublishedCommit[], CommitsOutcome>;

export type CommitBatchesDeps = ProcessingDeps & {
  isDatabaseAway: (error: unknown) => boolean;
  on: { processed: (commits: number, plants: number, ms: number) => void };
  /** Makes a batch a step of its jobs' traces; undefined where nothing is traced. */
  traced?: TracedJobs['batch'] | undefined;
};

/** Processes the commits of many jobs in one batch: the database does far less work than with a batch per job. */
export function createCommitBatches(deps: CommitBatchesDeps, jobsMax: number): CommitBatches {
  let pagePlants = PAGE_PLANTS_MAX;

  async function processTogether(
    commits: readonly string[],
    published: ReadonlyMap<string, Date>,
  ): Promise<Map<string, CommitsOutcome>> {
    const started = performance.now();
    try {
      const reports = await processCommits(deps, commits, pagePlants, published);
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
      // This error is unexpected, so one commit may be its cause: halving the batch finds it, and it fails alone (E6).
      const middle = Math.ceil(commits.length / 2);
      const first = await processTogether(commits.slice(0, middle), published);
      const second = await processTogether(commits.slice(middle), published);
      return new Map([...first, ...second]);
    }
  }

  return createBatcher<readonly PublishedCommit[], CommitsOutcome>({
    process: async (jobs) => {
      const commits = new Set(jobs.flatMap((job) => job.map(({ commit }) => commit)));
      const work = () => processTogether([...commits], publicationsOf(jobs));
      const outcomes = await (deps.traced === undefined ? work() : deps.traced(jobs, work));
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
    // A BullMQ worker that was replaced may still have active jobs.
    waitingItemsMax: 4 * jobsMax,
    waitingBytesMax: Number.POSITIVE_INFINITY,
    waitMsMax: WAIT_MS_MAX,
    slowAfterMs: WAIT_MS_MAX,
    batchesMax: BATCHES_MAX,
  });
}

/** When each commit was published; the first time where several jobs name it. */
function publicationsOf(jobs: readonly (readonly PublishedCommit[])[]): Map<string, Date> {
  const published = new Map<string, Date>();
  for (const { commit, publishedAt } of jobs.flat()) {
    if (publishedAt === undefined) continue;
    const earlier = published.get(commit);
    if (earlier === undefined || publishedAt < earlier) published.set(commit, publishedAt);
  }
  return published;
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
