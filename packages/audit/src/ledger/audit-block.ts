import { hash } from 'node:crypto';
import { type AuditEntry, canonicalEntry } from './audit-entry.ts';
import { leafHash, merkleRoot } from './merkle-tree.ts';

/** The format that docs/audit-format.md describes. Version 1, which identified creations by text, cannot be read. */
export const BLOCK_VERSION = 2;

/** The part of a block that is hashed. Hashes are in hexadecimal. */
export type BlockHeader = {
  version: typeof BLOCK_VERSION;
  chain: number;
  /** 1 for a chain's first block. */
  height: number;
  /** The hash of the block before it; zeros at height 1. */
  previous: string;
  /** The Merkle tree hash of the entries (RFC 6962). */
  root: string;
  /** How many entries the block has. */
  entries: number;
  /** The process that sealed it, and when, by that process' clock. */
  sealer: string;
  time: Date;
  /**
   * When the creation jobs of its plants were published, by their publishers' clocks; one pair for the block, since it
   * then costs nothing for each plant. Absent where no job told it, for operators' actions, and before version 1.1.
   */
  published?: Published;
};

/** The first and the last publication; the same when the plants of a block came with one job. */
export type Published = { first: Date; last: Date };

export type AuditBlock = Omit<BlockHeader, 'entries'> & { entries: readonly AuditEntry[]; hash: string };

/** The end of a chain, on which the next block is sealed. */
export type ChainHead = { height: number; hash: string };

/** Creations are spread over chains 0 to 63 at most; operators' actions have a chain of their own. */
export const OPERATORS_CHAIN = 64;

const NO_HASH = '0'.repeat(64);

/** The head of a chain without blocks. */
export const GENESIS: ChainHead = { height: 0, hash: NO_HASH };

export function sealBlock(
  chain: number,
  head: ChainHead,
  entries: readonly AuditEntry[],
  sealer: string,
  time: Date,
  published?: Published,
): AuditBlock {
  const block = {
    version: BLOCK_VERSION,
    chain,
    height: head.height + 1,
    previous: head.hash,
    root: entriesRoot(entries),
    entries,
    sealer,
    time,
    ...(published !== undefined && { published }),
  } as const;
  return { ...block, hash: headerHash(headerOf(block)) };
}

export function entriesRoot(entries: readonly AuditEntry[]): string {
  return merkleRoot(entries.map((entry) => leafHash(canonicalEntry(entry))));
}

export function headOf({ height, hash }: AuditBlock): ChainHead {
  return { height, hash };
}

export function headerOf({
  version,
  chain,
  height,
  previous,
  root,
  entries,
  sealer,
  time,
  published,
}: Omit<AuditBlock, 'hash'>): BlockHeader {
  const header = { version, chain, height, previous, root, entries: entries.length, sealer, time };
  return published === undefined ? header : { ...header, published };
}

/** SHA-256 of a block's header as canonical JSON (RFC 8785). */
export function headerHash({
  chain,
  entries,
  height,
  previous,
  published,
  root,
  sealer,
  time,
  version,
}: BlockHeader): string {
  const times = published && { first: published.first, last: published.last };
  const header = JSON.stringify({
    chain,
    entries,
    height,
    previous,
    published: times,
    root,
    sealer,
    time,
    version,
  });
  return hash('sha256', header, 'hex');
}
