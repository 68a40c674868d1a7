import { OPERATORS_CHAIN } from '@plant-store/audit/ledger/audit-block';
import type { AuditEntry, OperatorEntry } from '@plant-store/audit/ledger/audit-entry';
import { readBlock } from '@plant-store/audit/ledger/stored-block';
import { mongoAuditLog } from '@plant-store/audit/mongo/mongo-audit-log';
import { createAuditChains } from '@plant-store/audit/sealing/audit-chains';
import { type SealingDeps, sealEntries } from '@plant-store/audit/sealing/seal-entries';
import { auditIndexes } from '@plant-store/contracts/indexes';
import { AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import { within } from '@plant-store/platform/concurrency/within';
import { ensureIndexes } from '@plant-store/platform/mongo/mongo-indexes';
import { type MongoClient, ObjectId } from 'mongodb';

/** An operator's action or attempt, before it is sealed in the audit log. */
type OperatorAction = Omit<OperatorEntry, 'event' | 'when'>;

export type OperatorAudit = Disposable & {
  /** Resolves to true once the indexes exist, without which nothing is sealed. */
  ready: Promise<true>;
  /**
   * Called before any action that must be audited. Waits up to 5 s for the indexes.
   * @throws when an entry could not be sealed now
   */
  check: () => Promise<void>;
  /** Resolves when a majority has the entry in a block. @throws when it cannot be sealed */
  record: (action: OperatorAction) => Promise<void>;
  /** The newest entries, newest first. @throws when MongoDB does not answer, or a block has not the format */
  recent: (entriesMax: number) => Promise<OperatorEntry[]>;
};

/** Where an entry is logged as well, above all one that could not be sealed. */
export type ActionLog = Record<'info' | 'error', (fields: object, message: string) => void>;

const BLOCK_BOUNDS = { entriesMax: 100, bytesMax: 1024 * 1024 };
const READ_MS_MAX = 1_000;

/** In a new database the indexes are still being created when the console already listens. */
const INDEXED_MS_MAX = 5_000;

/** The audit log of operators' actions: a chain of its own, sealed in the same way as creations. */
export function createOperatorAudit(
  mongo: MongoClient,
  database: string,
  instance: string,
  logger: ActionLog,
): OperatorAudit {
  const sealing: SealingDeps = {
    log: mongoAuditLog(mongo, database),
    chains: createAuditChains([OPERATORS_CHAIN], Math.random),
    bounds: BLOCK_BOUNDS,
    sealer: instance,
    now: () => new Date(),
    random: Math.random,
    on: { sealed: () => {}, collided: () => {}, unknown: () => {} },
  };
  const blocks = mongo.db(database).collection(AUDIT_BLOCKS);

  /** Without the unique indexes a chain may fork, so nothing is sealed before they exist. */
  const stop = new AbortController();
  const ready = ensureIndexes(mongo.db(database), auditIndexes, () => {}, stop.signal).then(
    () => true as const,
  );

  async function check(): Promise<void> {
    if (!(await within<boolean>(INDEXED_MS_MAX, ready, false)))
      throw new Error('the indexes of the audit log do not exist yet');
    await blocks.findOne({ chain: OPERATORS_CHAIN }, { maxTimeMS: READ_MS_MAX, projection: { _id: 1 } });
  }

  return {
    ready,
    check,

    async record(action) {
      const entry: OperatorEntry = { event: new ObjectId(), when: new Date(), ...action };
      try {
        await check();
        const [rejected] = await sealEntries(sealing, [entry]);
        if (rejected !== undefined) throw new Error(rejected.reason);
        logger.info({ entry }, 'operator action');
      } catch (error) {
        logger.error({ entry, reason: (error as Error).message }, 'an operator action could not be audited');
        throw error;
      }
    },

    async recent(entriesMax) {
      const newest = await blocks
        .find({ chain: OPERATORS_CHAIN }, { maxTimeMS: READ_MS_MAX, sort: { height: -1 }, limit: entriesMax })
        .toArray();
      return newest
        .flatMap((block) => readBlock(block).entries.toReversed())
        .filter(isOperators)
        .slice(0, entriesMax);
    },

    [Symbol.dispose]: () => stop.abort(),
  };
}

function isOperators(entry: AuditEntry): entry is OperatorEntry {
  return !('plant' in entry);
}
