import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import { PLANT_SEARCH, PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import type { SearchEntry } from '@plant-store/search/search-entry';
import type { Db } from 'mongodb';

const READ_MS_MAX = 5_000;

/** What happened to one plant, from the request that created it to its proof. */
export type PlantStory = {
  plant: Pick<PlantDocument, 'name' | 'tag' | 'by' | 'from'> & { id: bigint; commit: string };
  state: 'pending' | 'quarantined' | 'processed';
  times: {
    /** When the API took the request, by its clock. */
    created: Date;
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
};

/** What has happened to a plant so far; undefined when there is no such plant. */
export async function plantStory(database: Db, id: bigint): Promise<PlantStory | undefined> {
  const bounded = { maxTimeMS: READ_MS_MAX };
  const ledger = mongoLedger(database);
  const [plant, entry, block] = await Promise.all([
    database.collection<PlantDocument>(PLANTS).findOne({ _id: id }, bounded),
    database.collection<SearchEntry>(PLANT_SEARCH).findOne({ _id: id }, bounded),
    ledger.blockOf(id),
  ]);
  if (plant === null) return undefined;
  const anchor = block && (await ledger.anchorAfter(block.chain, block.height));
  const { name, tag, by, from, commit, created } = plant;
  const pending: unknown = plant.pending;
  return {
    plant: { id, name, ...(tag !== undefined && { tag }), by, from, commit: commit.toHexString() },
    state: pending === undefined ? 'processed' : pending === true ? 'pending' : 'quarantined',
    times: {
      created,
      ...(entry && { indexed: entry.indexed }),
      ...(block && { audited: block.time }),
      ...(anchor && { anchored: new Date(anchor.time) }),
    },
    ...(block && {
      block: {
        chain: block.chain,
        height: block.height,
        index: block.entries.findIndex(({ event }) => event === id),
        entries: block.entries.length,
        sealer: block.sealer,
        hash: block.hash,
      },
    }),
    ...(anchor && { anchor: { sequence: anchor.sequence, key: anchor.key } }),
  };
}
