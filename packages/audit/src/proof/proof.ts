import { hash } from 'node:crypto';
import { type Anchor, isSignedBy, readAnchor } from '../ledger/anchor.ts';
import type { AnchorKeys } from '../ledger/anchor-keys.ts';
import { type AuditBlock, type BlockHeader, headerOf } from '../ledger/audit-block.ts';
import { type CreationEntry, canonicalEntry } from '../ledger/audit-entry.ts';
import { auditPath, leafHash, rootOfPath } from '../ledger/merkle-tree.ts';
import { canonicalJson } from './canonical-json.ts';

export const PROOF_FORMAT = 'plant-store audit proof';

/** A block header in JSON, with times as text. */
type HeaderJson = Omit<BlockHeader, 'time' | 'published'> & {
  time: string;
  published?: { first: string; last: string };
};

/**
 * Proves that a plant was audited with this content before the anchor was made. docs/audit-format.md describes each
 * part.
 */
export type Proof = {
  format: typeof PROOF_FORMAT;
  version: 1;
  /** What the client stored. */
  plant: { id: string; name: string; tag?: string };
  /** The entry as it is hashed. */
  entry: Record<string, unknown>;
  /** The entry's place in its block, from 0, and the hashes that lead from it to the root. */
  index: number;
  path: string[];
  block: HeaderJson;
  /** The headers of the blocks after it, up to the one that the anchor names. */
  chain: HeaderJson[];
  anchor: Anchor;
};

export function makeProof(
  plant: { id: bigint; name: string; tag?: string | undefined },
  block: AuditBlock,
  index: number,
  following: readonly BlockHeader[],
  anchor: Anchor,
): Proof {
  const entry = block.entries[index] as CreationEntry;
  const leaves = block.entries.map((other) => leafHash(canonicalEntry(other)));
  const { id, name, tag } = plant;
  return {
    format: PROOF_FORMAT,
    version: 1,
    plant: { id: id.toString(), name, ...(tag !== undefined && { tag }) },
    entry: JSON.parse(canonicalEntry(entry)),
    index,
    path: auditPath(leaves, index),
    block: headerJson(headerOf(block)),
    chain: following.map(headerJson),
    anchor,
  };
}

function headerJson({ published, ...header }: BlockHeader): HeaderJson {
  const times = published && { first: published.first.toISOString(), last: published.last.toISOString() };
  return { ...header, time: header.time.toISOString(), ...(times && { published: times }) };
}

/**
 * Checks a proof with the public keys alone.
 * @returns undefined when it holds, else the first thing that does not
 */
export function checkProof(value: unknown, keys: AnchorKeys): string | undefined {
  const proof = value as Proof;
  if (proof?.format !== PROOF_FORMAT || proof.version !== 1)
    return 'it is no proof of this format and version';
  const { plant, entry, index, path, block, chain, anchor: given } = proof;
  if (![path, chain].every(Array.isArray) || ![plant, entry, block].every(isObject))
    return 'parts of it are missing';

  if (sha256(canonicalJson(plant)) !== entry['content']) return 'the plant is not what the entry was made of';
  if (entry['plant'] !== plant.id || entry['action'] !== 'created') return 'the entry is not of this plant';
  if (rootOfPath(leafHash(canonicalJson(entry)), index, block.entries, path) !== block.root) {
    return 'the entry is not in the block';
  }
  let head = block;
  for (const next of chain) {
    if (
      next.previous !== sha256(canonicalJson(head)) ||
      next.height !== head.height + 1 ||
      next.chain !== head.chain
    ) {
      return `the block at height ${next.height} does not follow the one before it`;
    }
    head = next;
  }
  const anchor = readAnchor(given);
  if (anchor === undefined) return 'the anchor is no anchor of the format';
  const anchored = anchor.heads.find(({ chain: name }) => name === head.chain);
  if (anchored?.height !== head.height || anchored.hash !== sha256(canonicalJson(head))) {
    return 'the anchor does not name the last block';
  }
  const key = keys.get(anchor.key);
  if (key === undefined)
    return `the anchor is signed by the key ${anchor.key}, which is not among those given`;
  return isSignedBy(anchor, key) ? undefined : "the anchor's signature does not fit";
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
