import type { AuditBlock, ChainHead } from '../ledger/audit-block.ts';
import type { AuditEntry } from '../ledger/audit-entry.ts';

/** The stored chains. */
export type AuditLog = {
  /** Reads and writes of one sealing; each read waits until a majority has all that the writes before it met. */
  withSession: <T>(work: (session: AuditLogSession) => Promise<T>) => Promise<T>;
};

export type AuditLogSession = {
  /** The last block of a chain that a majority has. */
  head: (chain: number) => Promise<ChainHead>;
  /** Those of the events that a majority has in some block, by their key. */
  sealedAmong: (events: readonly AuditEntry['event'][]) => Promise<ReadonlySet<bigint | string>>;
  append: (block: AuditBlock) => Promise<Appended>;
};

export type Appended =
  /** A majority has it, on disk. */
  | { outcome: 'sealed' }
  /** Its height is taken or one of its events is in another block: it is not stored and never will be. */
  | { outcome: 'collided' }
  /** The database takes no such document, whenever it is sent. */
  | { outcome: 'rejected'; reason: string }
  /** It may be stored, be rolled back, or land later. */
  | { outcome: 'unknown'; error: unknown };
