import { setTimeout as pause } from 'node:timers/promises';
import { type ChainHead, headOf, type Published, sealBlock } from '../ledger/audit-block.ts';
import { type AuditEntry, eventKey } from '../ledger/audit-entry.ts';
import type { createAuditChains } from './audit-chains.ts';
import type { AuditLog, AuditLogSession } from './audit-log.ts';
import { type BlockBounds, planBlocks } from './plan-blocks.ts';

/** After so many attempts to seal a block the batch fails; its plants stay pending and are retried. */
const ATTEMPTS_MAX = 10;
/** The unit of the random backoff after a collision; the backoff grows with each attempt. */
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

/** An entry that the database rejects in any block. */
export type RejectedEntry<E extends AuditEntry> = { entry: E; reason: string };

/**
 * Puts every event into a block of some chain, once, and returns when a majority has all of them on disk. Events that
 * are already in the log are left out.
 * @param published when the jobs of these entries were published, where they came with jobs
 * @returns the entries that the database rejects
 * @throws on any other failure: the outcome is then unknown for every entry, and the call may be repeated
 */
export async function sealEntries<E extends AuditEntry>(
  deps: SealingDeps,
  entries: readonly E[],
  published?: Published,
): Promise<RejectedEntry<E>[]> {
  const rejected: RejectedEntry<E>[] = [];
  for (const block of planBlocks(entries, deps.bounds)) {
    rejected.push(...(await sealOrSplit(deps, block, published)));
  }
  return rejected;
}

/** A rejected block is split in half until one entry is rejected alone, so that all other entries are sealed (E6). */
async function sealOrSplit<E extends AuditEntry>(
  deps: SealingDeps,
  entries: readonly E[],
  published: Published | undefined,
): Promise<RejectedEntry<E>[]> {
  const reason = await deps.log.withSession((session) => sealInOneBlock(deps, session, entries, published));
  if (reason === undefined) return [];
  const [entry] = entries;
  if (entry === undefined || entries.length === 1) return entry === undefined ? [] : [{ entry, reason }];
  const middle = Math.ceil(entries.length / 2);
  return [
    ...(await sealOrSplit(deps, entries.slice(0, middle), published)),
    ...(await sealOrSplit(deps, entries.slice(middle), published)),
  ];
}

/**
 * Sends the block at once, on the remembered head if there is one. Nearly always that suffices. After a collision or an
 * unknown outcome, events that a majority already has are left out, the head is read again, and the remaining entries
 * are sealed in a new block, until none is left. The same block cannot be sent again: once one of its events is stored,
 * the unique index refuses it for ever.
 * @returns why the database rejects the block, or undefined when all entries are sealed
 */
async function sealInOneBlock(
  deps: SealingDeps,
  session: AuditLogSession,
  entries: readonly AuditEntry[],
  published: Published | undefined,
): Promise<string | undefined> {
  let open = entries;
  let lost: unknown;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const appended = await appendOnChain(deps, session, open, published);
    if (appended.outcome === 'rejected') return appended.reason;
    if (appended.outcome === 'sealed') {
      deps.on.sealed(open.length);
      return undefined;
    }
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

async function appendOnChain(
  deps: SealingDeps,
  session: AuditLogSession,
  entries: readonly AuditEntry[],
  published: Published | undefined,
) {
  const held = deps.chains.take();
  let sealed: ChainHead | undefined;
  try {
    const head = held.head ?? (await session.head(held.chain));
    const block = sealBlock(held.chain, head, entries, deps.sealer, deps.now(), published);
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
