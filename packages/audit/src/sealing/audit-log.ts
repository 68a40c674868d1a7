import type { AuditBlock, ChainHead } from '../ledger/audit-block.ts';
import type { AuditEntry } from '../ledger/audit-entry.ts';

/** The stored chains. */
export type AuditLog = {
  /**
   * A session for the reads and writes of one sealing. Each read waits until a majority has everything that the writes
   * before it stored or collided with.
   */
  withSession: <T>(work: (session: AuditLogSession) => Promise<T>) => Promise<T>;
};

export type AuditLogSession = {
  /** The newest block of a chain that a majority has. */
  head: (chain: number) => Promise<ChainHead>;
  /** The keys of those events that are in some block, according to a majority read. */
  sealedAmong: (events: readonly AuditEntry['event'][]) => Promise<ReadonlySet<bigint | string>>;
  append: (block: AuditBlock) => Promise<Appended>;
};

export type Appended =
  /** A majority has the block on disk. */
  | { outcome: 'sealed' }
  /** The height is taken or an event is in another block: the block is not stored and never will be. */
  | { outcome: 'collided' }
  /** The database refuses the document itself: a retry would fail in the same way. */
  | { outcome: 'rejected'; reason: string }
  /** The block may be stored now or later, or be rolled back. */
  | { outcome: 'unknown'; error: unknown };
