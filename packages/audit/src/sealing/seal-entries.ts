import { setTimeout as pause } from 'node:timers/promises';
import { type ChainHead, headOf, sealBlock } from '../ledger/audit-block.ts';
import { type AuditEntry, eventKey } from '../ledger/audit-entry.ts';
import type { createAuditChains } from './audit-chains.ts';
import type { AuditLog, AuditLogSession } from './audit-log.ts';
import { type BlockBounds, planBlocks } from './plan-blocks.ts';

/** How often a block is sealed anew before the batch is given up; the plants stay pending and are tried again. */
const ATTEMPTS_MAX = 10;
/** Sealers that collided step back by up to this, a little more each time. */
const STEP_BACK_MS = 5;

export type SealingDeps = {
  log: AuditLog;
  chains: ReturnType<typeof createAuditChains>;
  bounds: BlockBounds;
  sealer: string;
  now: () => Date;
  random: () => number;
  on: { sealed: (entries: number) => void; collided: () => void; unknown: (error: unknown) => void };
};

/** An entry that the database takes in no block. */
export type RejectedEntry<E extends AuditEntry> = { entry: E; reason: string };

/**
 * Puts every event into a block of some chain, once, and returns when a majority has them all on disk. Events that are
 * there already are left out. Answers those that the database rejects by themselves; any other failure is thrown, and
 * then nothing is known of any of them: the whole may be repeated.
 */
export async function sealEntries<E extends AuditEntry>(
  deps: SealingDeps,
  entries: readonly E[],
): Promise<RejectedEntry<E>[]> {
  const rejected: RejectedEntry<E>[] = [];
  for (const block of planBlocks(entries, deps.bounds)) rejected.push(...(await sealOrSplit(deps, block)));
  return rejected;
}

/** A block that is rejected is halved until what is rejected is one entry, so that it takes no other with it (E6). */
async function sealOrSplit<E extends AuditEntry>(
  deps: SealingDeps,
  entries: readonly E[],
): Promise<RejectedEntry<E>[]> {
  const reason = await deps.log.withSession((session) => sealInOneBlock(deps, session, entries));
  if (reason === undefined) return [];
  const [entry] = entries;
  if (entry === undefined || entries.length === 1) return entry === undefined ? [] : [{ entry, reason }];
  const middle = Math.ceil(entries.length / 2);
  return [
    ...(await sealOrSplit(deps, entries.slice(0, middle))),
    ...(await sealOrSplit(deps, entries.slice(middle))),
  ];
}

/**
 * Sends the block straight away, on the remembered head if there is one: nearly always that is all. After a collision
 * or an unknown outcome, the events that a majority has are left out, the head is read again, and the rest is sealed
 * anew, until nothing is left. The block as it was would be refused for ever once one of its events is stored.
 * @returns why the database rejects the block, if it does
 */
async function sealInOneBlock(
  deps: SealingDeps,
  session: AuditLogSession,
  entries: readonly AuditEntry[],
): Promise<string | undefined> {
  let open = entries;
  let lost: unknown;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const appended = await appendOnChain(deps, session, open);
    if (appended.outcome === 'rejected') return appended.reason;
    if (appended.outcome === 'sealed') deps.on.sealed(open.length);
    if (appended.outcome === 'sealed' && open === entries) return undefined;
    if (appended.outcome === 'collided') {
      deps.on.collided();
      await pause(deps.random() * STEP_BACK_MS * attempt);
    }
    if (appended.outcome === 'unknown') {
      deps.on.unknown(appended.error);
      if (lost !== undefined) throw appended.error;
      lost = appended.error;
    }
    open = await notSealed(session, open);
    if (open.length === 0) return undefined;
  }
  throw new Error(`a block of ${open.length} entries collided ${ATTEMPTS_MAX} times`);
}

async function appendOnChain(deps: SealingDeps, session: AuditLogSession, entries: readonly AuditEntry[]) {
  const held = deps.chains.take();
  let sealed: ChainHead | undefined;
  try {
    const head = held.head ?? (await session.head(held.chain));
    const block = sealBlock(held.chain, head, entries, deps.sealer, deps.now());
    const appended = await session.append(block);
    if (appended.outcome === 'sealed') sealed = headOf(block);
    return appended;
  } finally {
    held.release(sealed);
  }
}

async function notSealed(
  session: AuditLogSession,
  entries: readonly AuditEntry[],
): Promise<readonly AuditEntry[]> {
  const sealed = await session.sealedAmong(entries.map(({ event }) => event));
  return entries.filter(({ event }) => !sealed.has(eventKey(event)));
}
