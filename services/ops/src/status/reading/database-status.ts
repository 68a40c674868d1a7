import type { AuditBlock } from '@plant-store/audit/ledger/audit-block';
import { auditIndexes, plantIndexes, searchIndexes } from '@plant-store/contracts/indexes';
import { AUDIT_ANCHORS, AUDIT_BLOCKS, PLANT_SEARCH, PLANTS } from '@plant-store/contracts/plant-document';
import { type Db, MongoServerError, MongoServerSelectionError, type TopologyDescription } from 'mongodb';
import { type Backlog, readBacklog } from './backlog.ts';
import { clockAhead } from './clock-ahead.ts';
import { slowly } from './slowly.ts';

/** Of creations 64 at most, and one of operators. */
const CHAINS_MAX = 65;
const READ_MS_MAX = 1_000;
/** Interval for reading what seldom changes. */
const SELDOM_MS = 8_000;

/** `sealed` is undefined when the block has no time: somebody changed it (`audit verify` says so). */
type ChainHead = { chain: number; height: number; entries: number; sealed: Date | undefined };

export type DatabaseStatus = {
  /** As the collection's metadata estimates; a count would read them all. */
  plants: number;
  /** Plants that search finds, estimated likewise. */
  searchable: number;
  backlog: Backlog;
  /** The newest audit block of every chain. */
  chains: ChainHead[];
  /** `collection.index`, of collections that exist. */
  missingIndexes: string[];
  /** Share in use of the disk that holds mongod's data; undefined where mongod does not report it. */
  diskUsed: number | undefined;
  /** Age of the newest anchor of the audit log; undefined before the first. */
  anchorAgeMs: number | undefined;
  /** How much mongod's clock is ahead of this machine's. */
  clockAheadMs: number;
};

export type DatabaseReader = (poisonCommits: readonly string[]) => Promise<DatabaseStatus>;

/** The reader throws when there is no primary, or it does not answer in time. */
export function createDatabaseReader(database: Db): DatabaseReader {
  const bounds = { maxTimeMS: READ_MS_MAX };
  const missingIndexes = slowly(SELDOM_MS, () => readMissingIndexes(database));
  const diskUsed = slowly(SELDOM_MS, () => readDiskUsed(database));

  return async (poisonCommits) => {
    const [plants, searchable, backlog, chains, missing, disk, anchorAgeMs, clockAheadMs] = await Promise.all(
      [
        database.collection(PLANTS).estimatedDocumentCount(bounds),
        database.collection(PLANT_SEARCH).estimatedDocumentCount(bounds),
        readBacklog(database, poisonCommits, READ_MS_MAX),
        readChains(database),
        missingIndexes(),
        diskUsed(),
        readAnchorAge(database),
        clockAhead(() => readTime(database)),
      ],
    );
    return {
      plants,
      searchable,
      backlog: backlog.isCapped
        ? { ...backlog, plants: Math.max(backlog.plants, plants - searchable) }
        : backlog,
      chains,
      missingIndexes: missing,
      diskUsed: disk,
      anchorAgeMs,
      clockAheadMs,
    };
  };
}

/** Why MongoDB gives no answer, as a sentence for operators. */
export function databaseFault(error: unknown): string {
  if (error instanceof MongoServerSelectionError) {
    const members = [...((error.reason as TopologyDescription | undefined)?.servers.values() ?? [])];
    const answering = members.filter(({ type }) => type !== 'Unknown');
    return answering.length === 0
      ? 'No member of the replica set answers.'
      : `${answering.length} of ${members.length} members answer, and none of them is primary.`;
  }
  if (error instanceof MongoServerError && (error.code === 13 || error.code === 18)) {
    return "It refuses this console's account.";
  }
  return 'It is connected and does not answer in time: it hangs, or is overloaded.';
}

/** Sorted as the unique index on (chain, height) is, so MongoDB reads one block a chain and skips the rest. */
async function readChains(database: Db): Promise<ChainHead[]> {
  const heads = await database
    .collection(AUDIT_BLOCKS)
    .aggregate<{ _id: AuditBlock['chain']; entries: number } & Pick<AuditBlock, 'height' | 'time'>>(
      [
        { $sort: { chain: -1, height: -1 } },
        {
          $group: {
            _id: '$chain',
            height: { $first: '$height' },
            // Of a block that somebody changed too, else the database would seem away.
            entries: { $first: { $size: { $cond: [{ $isArray: '$entries' }, '$entries', []] } } },
            time: { $first: '$time' },
          },
        },
        { $sort: { _id: 1 } },
        { $limit: CHAINS_MAX },
      ],
      { maxTimeMS: READ_MS_MAX },
    )
    .toArray();
  return heads.map(({ _id, height, entries, time }) => ({
    chain: _id,
    height,
    entries,
    sealed: time instanceof Date ? time : undefined,
  }));
}

async function readMissingIndexes(database: Db): Promise<string[]> {
  const wanted = Map.groupBy(
    [...plantIndexes, ...searchIndexes, ...auditIndexes],
    ({ collection }) => collection,
  );
  const missing = await Promise.all(
    [...wanted].map(async ([collection, indexes]) => {
      const present = await database
        .collection(collection)
        .listIndexes({ maxTimeMS: READ_MS_MAX })
        .toArray()
        .catch((error: unknown) => {
          if (error instanceof MongoServerError && error.codeName === 'NamespaceNotFound') return undefined;
          throw error;
        });
      if (present === undefined) return [];
      const names = new Set(present.map(({ name }) => name as string));
      return indexes.filter(({ name }) => !names.has(name)).map(({ name }) => `${collection}.${name}`);
    }),
  );
  return missing.flat();
}

async function readDiskUsed(database: Db): Promise<number | undefined> {
  const { fsUsedSize, fsTotalSize } = await database.command({ dbStats: 1, maxTimeMS: READ_MS_MAX });
  return Number(fsTotalSize) > 0 ? Number(fsUsedSize) / Number(fsTotalSize) : undefined;
}

async function readAnchorAge(database: Db): Promise<number | undefined> {
  const newest = await database
    .collection<{ _id: number; time: string }>(AUDIT_ANCHORS)
    .findOne({}, { maxTimeMS: READ_MS_MAX, sort: { _id: -1 }, projection: { time: 1 } });
  return newest === null ? undefined : Math.max(0, Date.now() - Date.parse(newest.time));
}

async function readTime(database: Db): Promise<number> {
  const { localTime } = await database.command({ hello: 1, maxTimeMS: READ_MS_MAX });
  return (localTime as Date).getTime();
}
