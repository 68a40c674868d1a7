import { hash } from 'node:crypto';
import { type AuditEntry, canonicalEntry } from './audit-entry.ts';
import { leafHash, merkleRoot } from './merkle-tree.ts';

/** A block as stored. Its hash covers everything but the database's own `_id`: the entries through the root. */
export type AuditBlock = {
  version: 1;
  chain: number;
  /** 1 for a chain's first block. */
  height: number;
  /** The hash of the block before it; 32 zero bytes at height 1. */
  previous: Uint8Array;
  /** The Merkle tree hash of the entries (RFC 6962). */
  root: Uint8Array;
  entries: readonly AuditEntry[];
  /** The worker that sealed it, and when, by that worker's clock. */
  sealer: string;
  time: Date;
  hash: Uint8Array;
};

/** The end of a chain, on which the next block is sealed. */
export type ChainHead = { height: number; hash: Uint8Array };

/** The head of a chain without blocks. */
export const GENESIS: ChainHead = { height: 0, hash: Buffer.alloc(32) };

export function sealBlock(
  chain: number,
  head: ChainHead,
  entries: readonly AuditEntry[],
  sealer: string,
  time: Date,
): AuditBlock {
  const root = merkleRoot(entries.map((entry) => leafHash(canonicalEntry(entry))));
  const block = {
    version: 1,
    chain,
    height: head.height + 1,
    previous: head.hash,
    root,
    entries,
    sealer,
    time,
  } as const;
  return { ...block, hash: blockHash(block) };
}

export function headOf({ height, hash }: AuditBlock): ChainHead {
  return { height, hash };
}

/** SHA-256 of the block's header as canonical JSON (RFC 8785). */
export function blockHash(block: Omit<AuditBlock, 'hash'>): Buffer {
  const header = JSON.stringify({
    chain: block.chain,
    entries: block.entries.length,
    height: block.height,
    previous: Buffer.from(block.previous).toString('hex'),
    root: Buffer.from(block.root).toString('hex'),
    sealer: block.sealer,
    time: block.time.toISOString(),
    version: block.version,
  });
  return hash('sha256', header, 'buffer');
}
