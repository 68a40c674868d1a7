import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Published } from '@plant-store/audit/ledger/audit-block';
import { type CreationEntry, creationEntry } from '@plant-store/audit/ledger/audit-entry';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { readPlant } from '@plant-store/contracts/read-plant';
import { type SearchEntry, searchEntry } from '@plant-store/search/search-entry';
import { ObjectId } from 'mongodb';
import type { PendingPlants, PoisonPlant } from './pending-plants.ts';

/** Plants whose entries are made without yielding: at worst, each takes some milliseconds. */
const PREPARED_AT_ONCE = 50;

export type ProcessingDeps = {
  pending: PendingPlants;
  /** Both resolve when a majority has the entries. They return plants that the database rejects, with the reason. */
  index: (entries: readonly SearchEntry[]) => Promise<ReadonlyMap<bigint, string>>;
  audit: (entries: readonly CreationEntry[], published?: Published) => Promise<ReadonlyMap<bigint, string>>;
  on: {
    indexed: (plants: readonly PlantDocument[]) => void;
    /** A pending document without a valid commit id was read along with a commit's plants. It fails no job. */
    strayed: (poison: PoisonPlant) => void;
  };
};

/** The outcome of one commit in a batch. */
export type CommitReport = { commit: string; plants: number; poison: PoisonPlant[] };

/**
 * Processes one batch: indexes and audits the pending plants of the commits, and only then clears their pending flags.
 * Every step is idempotent, also when several workers do it at once. Plants that cannot be processed are left out and
 * reported.
 */
export async function processCommits(
  deps: ProcessingDeps,
  commits: readonly string[],
  pagePlantsMax: number,
  published: ReadonlyMap<string, Date> = new Map(),
): Promise<CommitReport[]> {
  const reports = new Map(
    commits.map((commit) => [commit, { commit, plants: 0, poison: [] } as CommitReport]),
  );
  const reportOf = (commit: string) => reports.get(commit) as CommitReport;

  for await (const page of deps.pending.pages(commits, pagePlantsMax)) {
    const prepared = await prepareAll(page);
    const read = prepared.filter((plant) => 'search' in plant);
    const unreadable = prepared.filter((plant) => 'reason' in plant);

    const notIndexed = await deps.index(read.map(({ search }) => search));
    const indexed = read.filter(({ plant }) => !notIndexed.has(plant._id));
    deps.on.indexed(indexed.map(({ plant }) => plant));

    const notAudited = await deps.audit(
      indexed.map(({ audit }) => audit),
      publishedOf(indexed, published),
    );
    const audited = indexed.filter(({ plant }) => !notAudited.has(plant._id)).map(({ plant }) => plant);

    await deps.pending.clear(audited);

    for (const { commit } of audited) reportOf(commit.toHexString()).plants++;
    for (const poison of unreadable) {
      const report = poison.commit === undefined ? undefined : reports.get(poison.commit);
      if (report === undefined) deps.on.strayed(poison);
      else report.poison.push(poison);
    }
    for (const { plant } of read) {
      const reason = notIndexed.get(plant._id) ?? notAudited.get(plant._id);
      if (reason !== undefined) reportOf(plant.commit.toHexString()).poison.push(poisonOf(plant, reason));
    }
  }
  return [...reports.values()];
}

/** When the jobs of these plants were published. Plants of one commit follow one another. */
function publishedOf(
  plants: readonly Prepared[],
  published: ReadonlyMap<string, Date>,
): Published | undefined {
  let range: Published | undefined;
  let last: ObjectId | undefined;
  for (const { plant } of plants) {
    if (last?.equals(plant.commit)) continue;
    last = plant.commit;
    const at = published.get(plant.commit.toHexString());
    if (at === undefined) continue;
    range ??= { first: at, last: at };
    if (at < range.first) range = { ...range, first: at };
    if (at > range.last) range = { ...range, last: at };
  }
  return range;
}

type Prepared = { plant: PlantDocument; search: SearchEntry; audit: CreationEntry };

/** Yields to the event loop in between, so that locks are renewed and health checks answered in time. */
async function prepareAll(page: readonly unknown[]): Promise<(Prepared | PoisonPlant)[]> {
  const prepared: (Prepared | PoisonPlant)[] = [];
  const now = new Date();
  for (const [index, document] of page.entries()) {
    if (index % PREPARED_AT_ONCE === PREPARED_AT_ONCE - 1) await yieldToEventLoop();
    prepared.push(prepare(document, now));
  }
  return prepared;
}

/** The entries of one document, or why it has none: an invalid document does not fail the rest of its batch (E6). */
function prepare(document: unknown, now: Date): Prepared | PoisonPlant {
  try {
    const plant = readPlant(document);
    return { plant, search: searchEntry(plant, now), audit: creationEntry(plant) };
  } catch (error) {
    return poisonOf(document as Record<string, unknown>, (error as Error).message);
  }
}

/** The document may be anything. */
function poisonOf(document: Record<string, unknown>, reason: string): PoisonPlant {
  const { _id, commit, from } = document;
  const { request } = (from ?? {}) as { request?: unknown };
  return {
    plant:
      typeof _id === 'bigint' ? String(_id) : inspect(_id, { depth: 0, breakLength: Infinity }).slice(0, 100),
    commit: commit instanceof ObjectId ? commit.toHexString() : undefined,
    request: typeof request === 'string' ? request : undefined,
    reason,
  };
}
