import { PENDING_COMMITS, QUARANTINED } from '@plant-store/contracts/indexes';
import { PLANTS, type PlantDocument, type Quarantine } from '@plant-store/contracts/plant-document';
import { InvalidPlant, readPlant } from '@plant-store/contracts/read-plant';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type Collection, type Db, type Filter, ObjectId } from 'mongodb';
import { exactJson } from '../pages/record-json.ts';
import { commitsOf, failedJobs } from './failed-jobs.ts';

/** Pending plants that are read to find those that cannot be processed: the oldest, and those of failed jobs. */
const PLANTS_READ_MAX = 2_000;
/** In UTF-16 units of their JSON: as much as one document may have. Those that can be processed are not kept. */
const LENGTH_READ_MAX = 16 * 1024 * 1024;
const BATCH_PLANTS = 100;
const JOBS_READ_MAX = 1_000;
const QUARANTINED_READ_MAX = 1_000;
const READ_MS_MAX = 2_000;

/** A plant that no retry can process. Its document may be anything. */
export type PoisonPlant = {
  /** Undefined where `_id` is no int64; such a document is mended or removed in MongoDB. */
  id: bigint | undefined;
  commit: string | undefined;
  reason: string;
  /** The field that breaks a rule; undefined where the database refused what was made of the plant. */
  field: string | undefined;
  document: Record<string, unknown>;
  /** When it was created, or else its commit, by a clock of the API's; undefined where the document has neither. */
  since: Date | undefined;
};

export type FailureGroup = {
  reason: string;
  /** The oldest first. */
  plants: PoisonPlant[];
  /** The failed jobs that name their commits; none while they are being retried. */
  jobs: number;
  /** When one of these jobs last failed, by a worker's clock. */
  lastFailed: Date | undefined;
};

/**
 * Failed jobs without a plant that cannot be processed: taken over too often, or another program's. The reason is empty
 * where none is stored.
 */
export type FailedJobs = { reason: string; jobs: number; lastFailed: Date | undefined };

export type QuarantinedPlant = { id: bigint; commit: string | undefined; quarantine: Partial<Quarantine> };

export type Failures = {
  /** The most plants first. */
  groups: FailureGroup[];
  otherJobs: FailedJobs[];
  /** The newest quarantine first; undefined while they cannot be read, as without their index. */
  quarantined: QuarantinedPlant[] | undefined;
  /** More pending plants or failed jobs exist than were read, in number or in length. */
  isPartial: boolean;
  /** Whether Redis answered; without it, plants are still judged by their documents. */
  jobsRead: boolean;
};

export type FailuresReader = {
  read: () => Promise<Failures>;
  /** The plants that cannot be processed and whose reason contains the text. */
  matching: (reason: string) => Promise<{ plants: PoisonPlant[]; isPartial: boolean }>;
  /** The commit and the state of one plant; undefined when there is no such plant. */
  plant: (id: bigint) => Promise<{ commit: string | undefined; pending: unknown } | undefined>;
  /** Those in quarantine, for a reason that contains the text. */
  quarantinedFor: (reason: string) => Promise<QuarantinedPlant[]>;
};

type PoisonRead = { jobs: FailedJob[] | undefined; poison: PoisonPlant[]; isPartial: boolean };

type FailedJob = { reason: string; commits: string[]; failedAt: Date | undefined };

/** Reads which plants cannot be processed, and why, from the plants and the failed jobs. */
export function createFailuresReader(
  database: Db,
  { queue, redis }: { queue: Queue; redis: Redis },
): FailuresReader {
  const plants = database.collection<PlantDocument>(PLANTS);
  let reading: Promise<PoisonRead> | undefined;

  /** However many ask at once, it is read once. */
  function readPoison(): Promise<PoisonRead> {
    reading ??= readPoisonOnce().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function readPoisonOnce(): Promise<PoisonRead> {
    const jobs = redis.status === 'ready' ? await readFailedJobs(queue) : undefined;
    const { poison, isPartial } = await readPending(plants, jobs ?? []);
    return { jobs, poison, isPartial: isPartial || (jobs?.length ?? 0) >= JOBS_READ_MAX };
  }

  async function readQuarantined(): Promise<QuarantinedPlant[]> {
    const found = await plants
      .find(
        { pending: 'quarantined' },
        {
          hint: QUARANTINED,
          sort: { 'quarantine.since': -1, _id: -1 },
          limit: QUARANTINED_READ_MAX,
          projection: { commit: 1, quarantine: 1 },
          maxTimeMS: READ_MS_MAX,
        },
      )
      .toArray();
    return found.map(({ _id, commit, quarantine }) => ({
      id: _id,
      commit: commitOf({ commit }),
      quarantine: quarantine ?? {},
    }));
  }

  return {
    async read() {
      const [{ jobs, poison, isPartial }, quarantined] = await Promise.all([
        readPoison(),
        readQuarantined().catch(() => undefined),
      ]);
      return {
        groups: groupsOf(poison, jobs ?? []),
        otherJobs: otherJobsOf(poison, jobs ?? []),
        quarantined,
        isPartial,
        jobsRead: jobs !== undefined,
      };
    },
    async matching(reason) {
      const { poison, isPartial } = await readPoison();
      return { plants: poison.filter((plant) => plant.reason.includes(reason)), isPartial };
    },
    async plant(id) {
      const found = await plants.findOne(
        { _id: id },
        { projection: { commit: 1, pending: 1 }, maxTimeMS: READ_MS_MAX },
      );
      return found === null ? undefined : { commit: commitOf(found), pending: found.pending };
    },
    async quarantinedFor(reason) {
      return (await readQuarantined()).filter(({ quarantine }) =>
        String(quarantine.reason ?? '').includes(reason),
      );
    },
  };
}

async function readFailedJobs(queue: Queue): Promise<FailedJob[]> {
  const jobs: FailedJob[] = [];
  for await (const job of failedJobs(queue, { jobsMax: JOBS_READ_MAX })) {
    jobs.push({
      reason: job.failedReason ?? '',
      commits: commitsOf(job),
      failedAt: job.finishedOn === undefined ? undefined : new Date(job.finishedOn),
    });
  }
  return jobs;
}

/** Poison plants are among the oldest pending ones, since all others are processed; or their job has failed. */
async function readPending(
  plants: Collection<PlantDocument>,
  jobs: readonly FailedJob[],
): Promise<{ poison: PoisonPlant[]; isPartial: boolean }> {
  const poison = new Map<string, PoisonPlant>();
  let lengthRead = 0;
  let isPartial = false;

  async function read(filter: Filter<PlantDocument>): Promise<void> {
    const found = plants.find(
      { ...filter, pending: true },
      {
        hint: PENDING_COMMITS,
        sort: { commit: 1 },
        limit: PLANTS_READ_MAX,
        batchSize: BATCH_PLANTS,
        maxTimeMS: READ_MS_MAX,
        enableUtf8Validation: false,
      },
    );
    let plantsRead = 0;
    for await (const document of found) {
      for (const plant of poisonOf(document, jobs)) poison.set(keyOf(document._id), plant);
      plantsRead += 1;
      lengthRead += exactJson(document).length;
      if (plantsRead < PLANTS_READ_MAX && lengthRead < LENGTH_READ_MAX) continue;
      isPartial = true;
      return;
    }
  }

  const commits = [...new Set(jobs.flatMap((job) => job.commits))].map((commit) => new ObjectId(commit));
  await Promise.all([read({}), commits.length > 0 && read({ commit: { $in: commits } })]);
  return { poison: [...poison.values()], isPartial };
}

/** An `_id` may be of any type. */
function keyOf(id: unknown): string {
  return `${typeof id} ${exactJson(id)}`;
}

function poisonOf(document: Record<string, unknown>, jobs: readonly FailedJob[]): PoisonPlant[] {
  const id = typeof document['_id'] === 'bigint' ? document['_id'] : undefined;
  const commit = commitOf(document);
  const poison = { id, commit, document, since: sinceOf(document) };
  try {
    readPlant(document);
  } catch (error) {
    if (!(error instanceof InvalidPlant)) throw error;
    return [{ ...poison, reason: error.message, field: error.field || undefined }];
  }
  const told = jobs
    .filter(({ commits }) => commit !== undefined && commits.includes(commit))
    .map(({ reason }) => toldOf(reason, id as bigint))
    .find((reason) => reason !== undefined);
  return told === undefined ? [] : [{ ...poison, reason: told, field: undefined }];
}

/** What the reason of a failed job says of one plant: `…: plant 7: Document failed validation; plant 8: …`. */
function toldOf(jobReason: string, id: bigint): string | undefined {
  const told = jobReason.split(/[;:] (?=plant -?\d+: )/).find((part) => part.startsWith(`plant ${id}: `));
  return told?.slice(`plant ${id}: `.length).replace(/; and \d+ more$/, '');
}

function commitOf({ commit }: { commit?: unknown }): string | undefined {
  return commit instanceof ObjectId ? commit.toHexString() : undefined;
}

function sinceOf({ created, commit }: Record<string, unknown>): Date | undefined {
  if (created instanceof Date && !Number.isNaN(created.getTime())) return created;
  return commit instanceof ObjectId ? commit.getTimestamp() : undefined;
}

function groupsOf(poison: readonly PoisonPlant[], jobs: readonly FailedJob[]): FailureGroup[] {
  const groups = [...Map.groupBy(poison, ({ reason }) => reason)].map(([reason, plants]) => {
    const commits = new Set(plants.map(({ commit }) => commit));
    const own = jobs.filter((job) => job.commits.some((commit) => commits.has(commit)));
    return {
      reason,
      plants: plants.toSorted((a, b) => (a.since?.getTime() ?? 0) - (b.since?.getTime() ?? 0)),
      jobs: own.length,
      lastFailed: latest(own),
    };
  });
  return groups.sort((a, b) => b.plants.length - a.plants.length);
}

function otherJobsOf(poison: readonly PoisonPlant[], jobs: readonly FailedJob[]): FailedJobs[] {
  const explained = new Set(poison.map(({ commit }) => commit));
  const others = jobs.filter(({ commits }) => !commits.some((commit) => explained.has(commit)));
  return [...Map.groupBy(others, ({ reason }) => reason)].map(([reason, own]) => ({
    reason,
    jobs: own.length,
    lastFailed: latest(own),
  }));
}

function latest(jobs: readonly FailedJob[]): Date | undefined {
  return jobs
    .map(({ failedAt }) => failedAt)
    .filter((at) => at !== undefined)
    .sort((a, b) => b.getTime() - a.getTime())[0];
}
