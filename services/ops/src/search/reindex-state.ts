import { setTimeout as pause } from 'node:timers/promises';
import type { Db, WriteConcernSettings } from 'mongodb';

/** Commands that go on where an earlier one was killed keep here how far they came. */
const OPS_STATE = 'ops_state';
const ID = 'reindex';
/** Whoever has not been heard of for so long is gone. */
const LEASE_MS = 15_000;
const RENEW_MS = 3_000;
const LOOK_MS = 500;

export type ReindexState = {
  phase: 'begun' | 'copying' | 'swapping' | 'swapped';
  /** The last plant that was copied. */
  position: bigint | undefined;
  copied: number;
  /** What is no plant that could be indexed. */
  skipped: number;
  /** How far each chain of the audit log was when it began, or has been replayed since. */
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
  phase?: ReindexState['phase'];
  position?: bigint;
  copied?: number;
  skipped?: number;
  heads?: { chain: number; height: number }[];
};

/** A reindex is running: the message says whose. */
export class ReindexRunning extends Error {}

/**
 * Takes the lease on reindexing, so that one runs at a time, and holds it until it is disposed of. Of a holder that was
 * killed the lease is waited for; one that renews it is running.
 * @throws ReindexRunning
 */
export async function takeReindex(database: Db, holder: string, onWait: () => void): Promise<ReindexStore> {
  const states = database.collection<Stored>(OPS_STATE);
  let seen: Stored | null | undefined;
  while (!(await take(database, holder))) {
    const held = await states.findOne({ _id: ID });
    if (seen === undefined) onWait();
    if (seen && held?.holder === seen.holder && held?.alive.getTime() !== seen.alive.getTime()) {
      throw new ReindexRunning(`a reindex is running already (${held?.holder})`);
    }
    seen = held;
    await pause(LOOK_MS);
  }

  const own = { _id: ID, holder };
  const renewing = setInterval(
    () => void states.updateOne(own, [{ $set: { alive: '$$NOW' } }]).catch(() => {}),
    RENEW_MS,
  );
  renewing.unref();
  return {
    async read() {
      const stored = await states.findOne(own);
      const { phase = 'begun', position, copied = 0, skipped = 0, heads = [] } = stored ?? {};
      return {
        phase,
        position,
        copied,
        skipped,
        heads: new Map(heads.map(({ chain, height }) => [chain, height])),
      };
    },
    async write({ phase, position, copied, skipped, heads }, writeConcern = { w: 1 }) {
      const fields = {
        phase,
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
    finish: async () => void (await states.deleteOne(own)),
    async [Symbol.asyncDispose]() {
      clearInterval(renewing);
      await states.updateOne(own, { $set: { holder: null } });
    },
  };
}

/** Whether the lease was free, or left by somebody who is gone; by the database's clock. */
async function take(database: Db, holder: string): Promise<boolean> {
  const states = database.collection<Stored>(OPS_STATE, { writeConcern: { w: 'majority' } });
  const free = { $setOnInsert: { holder: null, alive: new Date(0) } };
  await states.updateOne({ _id: ID }, free, { upsert: true });
  const gone = { $dateSubtract: { startDate: '$$NOW', unit: 'millisecond', amount: LEASE_MS } };
  const { matchedCount } = await states.updateOne(
    { _id: ID, $or: [{ holder: null }, { $expr: { $lt: ['$alive', gone] } }] },
    [{ $set: { holder: { $literal: holder }, alive: '$$NOW' } }],
  );
  return matchedCount === 1;
}
