import { setTimeout as pause } from 'node:timers/promises';
import { OPS_STATE } from '@plant-store/contracts/plant-document';
import { REINDEX, type ReindexPhase } from '@plant-store/search/mongo/mongo-reindex-state';
import type { Db, WriteConcernSettings } from 'mongodb';

/** A holder that has not renewed its lease for this long is gone. */
const LEASE_MS = 15_000;
const RENEW_MS = 3_000;
const LOOK_MS = 500;

export type ReindexState = {
  phase: ReindexPhase;
  /** The UUID of the collection that is being built: after the swap, `plant_search` has it. */
  next: string | undefined;
  /** The last plant that was copied. */
  position: bigint | undefined;
  copied: number;
  /** Documents that are no plants and cannot be indexed. */
  skipped: number;
  /** The height of each audit chain at the start of the reindex, or up to which it has been replayed since. */
  heads: Map<number, number>;
};

export type ReindexStore = AsyncDisposable & {
  read: () => Promise<ReindexState>;
  write: (state: ReindexState, writeConcern?: WriteConcernSettings) => Promise<void>;
  finish: () => Promise<void>;
};

type Stored = {
  _id: string;
  holder: string | null;
  /** By the database's clock. */
  alive: Date;
  phase?: ReindexPhase;
  next?: string;
  position?: bigint;
  copied?: number;
  skipped?: number;
  heads?: { chain: number; height: number }[];
};

/** A reindex is running: the message says whose. */
export class ReindexRunning extends Error {}

/**
 * Takes the lease on reindexing, so that one reindex runs at a time, and holds it until it is disposed of. When the
 * holder was killed, it waits until the lease expires; a holder that renews the lease is running.
 * @throws ReindexRunning
 */
export async function takeReindex(database: Db, holder: string, onWait: () => void): Promise<ReindexStore> {
  const states = database.collection<Stored>(OPS_STATE);
  let seen: Stored | null | undefined;
  while (!(await take(database, holder))) {
    const held = await states.findOne({ _id: REINDEX });
    if (seen === undefined) onWait();
    if (seen && held?.holder === seen.holder && held?.alive.getTime() !== seen.alive.getTime()) {
      throw new ReindexRunning(`a reindex is running already (${held?.holder})`);
    }
    seen = held;
    await pause(LOOK_MS);
  }

  const own = { _id: REINDEX, holder };
  const renewing = setInterval(
    () => void states.updateOne(own, [{ $set: { alive: '$$NOW' } }]).catch(() => {}),
    RENEW_MS,
  );
  renewing.unref();
  return {
    async read() {
      const stored = await states.findOne(own);
      const { phase = 'begun', next, position, copied = 0, skipped = 0, heads = [] } = stored ?? {};
      return {
        phase,
        next,
        position,
        copied,
        skipped,
        heads: new Map(heads.map(({ chain, height }) => [chain, height])),
      };
    },
    async write({ phase, next, position, copied, skipped, heads }, writeConcern = { w: 1 }) {
      const fields = {
        phase,
        ...(next !== undefined && { next }),
        ...(position !== undefined && { position }),
        copied,
        skipped,
        heads: [...heads].map(([chain, height]) => ({ chain, height })),
      };
      const { matchedCount } = await states.updateOne(own, [{ $set: { ...fields, alive: '$$NOW' } }], {
        writeConcern,
      });
      if (matchedCount === 0) throw new ReindexRunning('the lease was lost: another reindex has taken over');
    },
    finish: async () => void (await states.deleteOne(own, { writeConcern: { w: 'majority' } })),
    async [Symbol.asyncDispose]() {
      clearInterval(renewing);
      await states.updateOne(own, { $set: { holder: null } });
    },
  };
}

/** Whether the lease was free or had expired, by the database's clock. */
async function take(database: Db, holder: string): Promise<boolean> {
  const states = database.collection<Stored>(OPS_STATE, { writeConcern: { w: 'majority' } });
  const free = { $setOnInsert: { holder: null, alive: new Date(0) } };
  await states.updateOne({ _id: REINDEX }, free, { upsert: true });
  const gone = { $dateSubtract: { startDate: '$$NOW', unit: 'millisecond', amount: LEASE_MS } };
  const { matchedCount } = await states.updateOne(
    { _id: REINDEX, $or: [{ holder: null }, { $expr: { $lt: ['$alive', gone] } }] },
    [{ $set: { holder: { $literal: holder }, alive: '$$NOW' } }],
  );
  return matchedCount === 1;
}
