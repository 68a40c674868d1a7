import { type AuditEntry, eventKey } from '../ledger/audit-entry.ts';

export type BlockBounds = { entriesMax: number; bytesMax: number };

/** Size of an entry in BSON without its strings: field names, times, hash, id, index. */
const ENTRY_BYTES = 320;
/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;

/**
 * Splits entries into blocks of limited count and size, in their order. Each event is taken once: the unique index
 * holds between documents, not inside one, so only this function keeps a creation from being audited twice in one block
 * (E1). An entry that exceeds the size limit alone becomes a block of its own.
 */
export function planBlocks<E extends AuditEntry>(
  entries: readonly E[],
  { entriesMax, bytesMax }: BlockBounds,
): E[][] {
  const blocks: E[][] = [];
  let block: E[] = [];
  let bytes = 0;
  for (const entry of distinctEvents(entries)) {
    const size = entryBytesMax(entry);
    if (block.length > 0 && (block.length >= entriesMax || bytes + size > bytesMax)) {
      blocks.push(block);
      block = [];
      bytes = 0;
    }
    block.push(entry);
    bytes += size;
  }
  if (block.length > 0) blocks.push(block);
  return blocks;
}

function distinctEvents<E extends AuditEntry>(entries: readonly E[]): Iterable<E> {
  return new Map(entries.map((entry) => [eventKey(entry.event), entry])).values();
}

function entryBytesMax(entry: AuditEntry): number {
  return ENTRY_BYTES + UNIT_BYTES_MAX * (unitsOf(entry) + unitsOf(entry.who) + unitsOf(entry.from));
}

function unitsOf(record: object): number {
  let units = 0;
  for (const value of Object.values(record)) if (typeof value === 'string') units += value.length;
  return units;
}
