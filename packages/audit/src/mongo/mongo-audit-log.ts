import { AUDIT_BLOCKS } from '@plant-store/contracts/plant-document';
import { OPERATION_MS_MAX } from '@plant-store/platform/mongo/mongo';
import { partialInsert } from '@plant-store/platform/mongo/mongo-failures';
import type { Binary, ClientSession, MongoClient } from 'mongodb';
import { type ChainHead, GENESIS } from '../ledger/audit-block.ts';
import { type AuditEntry, eventKey } from '../ledger/audit-entry.ts';
import { type StoredBlock, storedBlock } from '../ledger/stored-block.ts';
import type { Appended, AuditLog, AuditLogSession } from '../sealing/audit-log.ts';

/** The fields of a block that are read, in the driver's types. */
type StoredHead = { height: number; hash: Binary };
type StoredEvents = { entries: { event: AuditEntry['event'] }[] };

/**
 * The audit log in MongoDB.
 * - Blocks wait for a journaled majority: with less, a failover could roll back a block after the pending flags of its
 *   plants are cleared, and these plants would never be audited (E3).
 * - The head is read by majority: a block sealed on a head that is rolled back would break the chain.
 * - Sealed events are read by majority: a local read may return a block that is rolled back after the pending flags are
 *   cleared (E3).
 * - The session is causal: after a collision, reads wait until a majority has the block it collided with, or time out.
 *   Otherwise they could miss that block, and the next attempts would collide again.
 */
export function mongoAuditLog(client: MongoClient, database: string): AuditLog {
  return {
    withSession: (work) =>
      client.withSession({ causalConsistency: true }, (session) =>
        work(logSession(client, database, session)),
      ),
  };
}

function logSession(client: MongoClient, database: string, session: ClientSession): AuditLogSession {
  const blocks = client.db(database).collection<StoredBlock>(AUDIT_BLOCKS, {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: OPERATION_MS_MAX },
  });
  const bounded = { session, maxTimeMS: OPERATION_MS_MAX };

  return {
    async head(chain): Promise<ChainHead> {
      const last = await blocks.findOne<StoredHead>(
        { chain },
        { ...bounded, sort: { height: -1 }, projection: { _id: 0, height: 1, hash: 1 } },
      );
      return last === null
        ? GENESIS
        : { height: last.height, hash: Buffer.from(last.hash.value()).toString('hex') };
    },

    async sealedAmong(events): Promise<ReadonlySet<bigint | string>> {
      const found = blocks.find<StoredEvents>(
        { 'entries.event': { $in: [...events] } },
        { ...bounded, projection: { _id: 0, 'entries.event': 1 } },
      );
      const sealed = new Set<bigint | string>();
      for await (const { entries } of found) for (const { event } of entries) sealed.add(eventKey(event));
      return sealed;
    },

    async append(block): Promise<Appended> {
      try {
        await blocks.insertMany([storedBlock(block)], bounded);
        return { outcome: 'sealed' };
      } catch (error) {
        return failedAppend(error);
      }
    },
  };
}

function failedAppend(error: unknown): Appended {
  try {
    const { rejected } = partialInsert(error);
    const [reason] = rejected.map((document) => document.reason);
    return reason === undefined ? { outcome: 'collided' } : { outcome: 'rejected', reason };
  } catch (cause) {
    return { outcome: 'unknown', error: cause };
  }
}
