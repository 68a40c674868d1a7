import type { AuditEntry } from '../ledger/audit-entry.ts';

export type BlockBounds = { entriesMax: number; bytesMax: number };

/** What an entry takes in BSON beside its strings: field names, times, hash, id, index. */
const ENTRY_BYTES = 320;
/** A UTF-16 unit takes at most this many bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;

/**
 * Cuts entries into blocks of bounded count and size, in their order. An event is put in once: the unique index holds
 * between documents, not inside one, so within a block nothing but this keeps a creation from being audited twice (E1).
 * An entry larger than a block's bound is a block of its own.
 */
export function planBlocks(
  entries: readonly AuditEntry[],
  { entriesMax, bytesMax }: BlockBounds,
): AuditEntry[][] {
  const blocks: AuditEntry[][] = [];
  let block: AuditEntry[] = [];
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

function distinctEvents(entries: readonly AuditEntry[]): Iterable<AuditEntry> {
  return new Map(entries.map((entry) => [entry.event, entry])).values();
}

function entryBytesMax({ event, action, target, who, from }: AuditEntry): number {
  const strings = [
    event,
    action,
    target,
    who.sub,
    who.iss,
    who.jti,
    from.address,
    from.request,
    from.instance,
  ];
  return strings.reduce((bytes, text) => bytes + UNIT_BYTES_MAX * (text?.length ?? 0), ENTRY_BYTES);
}
