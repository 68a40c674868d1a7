import { type AuditBlock, type BlockHeader, headerOf } from '@plant-store/audit/ledger/audit-block';
import type { AuditEntry } from '@plant-store/audit/ledger/audit-entry';
import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import { PLANT_SEARCH, PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { InvalidPlant, readPlant } from '@plant-store/contracts/read-plant';
import type { SearchEntry } from '@plant-store/search/search-entry';
import { type Db, ObjectId } from 'mongodb';

const READ_MS_MAX = 2_500;

/**
 * When the job that names the plant's commit was published, by the publisher's clock: between these two times, or
 * exactly then where they are the same.
 * - `job`: read from the job, which is still in Redis.
 * - `block`: the plant's audit block has the first and the last publication of its plants.
 * - `bounds`: nobody recorded it (a block sealed before version 1.1, or after Redis lost it). It was published after
 *   the plant was created, and at or before its block was sealed.
 */
export type Publication = { earliest: Date; latest: Date; source: 'job' | 'block' | 'bounds' };

/** What happened to one plant, from the request that created it to its proof. */
export type PlantStory = {
  plant: Pick<PlantDocument, 'name' | 'tag' | 'by' | 'from'> & { id: bigint; commit: string };
  state: 'pending' | 'quarantined' | 'processed';
  /** Why no worker can process it, where its document breaks a rule. */
  fault?: { field: string; rule: string };
  /** Why and since when it is quarantined. */
  quarantine?: NonNullable<PlantDocument['quarantine']>;
  times: {
    /** When the API took the request, by its clock; absent only where the document has no such time. */
    created?: Date;
    published?: Publication;
    /** When its index entry was made; by the last reindex, where there was one. */
    indexed?: Date;
    /** When its block was sealed. */
    audited?: Date;
    /** When the first anchor was made that names its block or a later one. */
    anchored?: Date;
  };
  /** Where its entry is in the audit log. */
  block?: { chain: number; height: number; index: number; entries: number; sealer: string; hash: string };
  /** With an anchor there is a proof: `audit prove`. */
  anchor?: { sequence: number; key: string };
  /** What is stored of it, as it is. */
  records: {
    document: Record<string, unknown>;
    index?: SearchEntry;
    audit?: AuditEntry;
    block?: BlockHeader;
  };
};

/** When a commit's job was published; undefined when no job in Redis names it, or Redis is away. */
export type JobPublication = (commit: string) => Promise<Date | undefined>;

/** What has happened to a plant so far; undefined when there is no such plant. Its document may be anything. */
export async function plantStory(
  database: Db,
  id: bigint,
  jobPublication: JobPublication = async () => undefined,
): Promise<PlantStory | undefined> {
  const bounded = { maxTimeMS: READ_MS_MAX };
  const ledger = mongoLedger(database);
  const [plant, entry, block] = await Promise.all([
    database
      .collection<PlantDocument>(PLANTS)
      .findOne({ _id: id }, { ...bounded, enableUtf8Validation: false }),
    database.collection<SearchEntry>(PLANT_SEARCH).findOne({ _id: id }, bounded),
    ledger.blockOf(id),
  ]);
  if (plant === null) return undefined;
  const anchor = block && (await ledger.anchorAfter(block.chain, block.height));
  const commit: unknown = plant.commit;
  const commitId = commit instanceof ObjectId ? commit.toHexString() : undefined;
  const published =
    block === undefined && commitId !== undefined
      ? jobPublished(await jobPublication(commitId))
      : publishedIn(block, plant);
  const { name, tag, by, from } = plant;
  const fault = faultOf(plant);
  const index = block?.entries.findIndex(({ event }) => event === id) ?? -1;
  const audit = block?.entries[index];
  return {
    plant: { id, name, ...(tag !== undefined && { tag }), by, from, commit: commitId ?? String(commit) },
    state: stateOf(plant),
    ...(fault && { fault }),
    ...(plant.quarantine && { quarantine: plant.quarantine }),
    times: {
      ...(isTime(plant.created) && { created: plant.created }),
      ...(published && { published }),
      ...(entry && { indexed: entry.indexed }),
      ...(block && { audited: block.time }),
      ...(anchor && { anchored: new Date(anchor.time) }),
    },
    ...(block && {
      block: {
        chain: block.chain,
        height: block.height,
        index,
        entries: block.entries.length,
        sealer: block.sealer,
        hash: block.hash,
      },
    }),
    ...(anchor && { anchor: { sequence: anchor.sequence, key: anchor.key } }),
    records: {
      document: plant,
      ...(entry && { index: entry }),
      ...(audit && { audit }),
      ...(block && { block: headerOf(block) }),
    },
  };
}

function stateOf({ pending }: { pending?: unknown }): PlantStory['state'] {
  if (pending === undefined) return 'processed';
  return pending === true ? 'pending' : 'quarantined';
}

function faultOf(document: unknown): PlantStory['fault'] {
  try {
    readPlant(document);
    return undefined;
  } catch (error) {
    if (error instanceof InvalidPlant) return { field: error.field, rule: error.message };
    throw error;
  }
}

function jobPublished(at: Date | undefined): Publication | undefined {
  return at && { earliest: at, latest: at, source: 'job' };
}

function publishedIn(block: AuditBlock | undefined, { created }: PlantDocument): Publication | undefined {
  if (block === undefined) return undefined;
  const { first: earliest, last: latest } = block.published ?? {};
  if (earliest === undefined || latest === undefined) {
    return isTime(created) ? { earliest: created, latest: block.time, source: 'bounds' } : undefined;
  }
  // A plant is published after it was created; where the clocks disagree, the block's own times are shown.
  const since = isTime(created) && created > earliest && created <= latest ? created : earliest;
  return { earliest: since, latest, source: 'block' };
}

function isTime(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}
