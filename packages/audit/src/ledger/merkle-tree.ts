import { hash } from 'node:crypto';

const HASH_BYTES = 32;
/** RFC 6962 §2.1: different prefixes, so that no inner node can be passed off as an entry. */
const LEAF_PREFIX = '\x00';
const NODE_PREFIX = 0x01;

/** The hash of a tree without leaves: SHA-256 of nothing. */
const EMPTY_ROOT = hash('sha256', '', 'buffer');

export function leafHash(entry: string): Buffer {
  return hash('sha256', LEAF_PREFIX + entry, 'buffer');
}

/**
 * The Merkle tree hash of RFC 6962 §2.1. Pairing level by level and carrying an odd last node up unchanged gives the
 * same tree as the RFC's splitting at the largest power of two below n.
 */
export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  let level = leaves;
  const node = Buffer.alloc(1 + 2 * HASH_BYTES);
  node[0] = NODE_PREFIX;
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let index = 0; index + 1 < level.length; index += 2) {
      (level[index] as Buffer).copy(node, 1);
      (level[index + 1] as Buffer).copy(node, 1 + HASH_BYTES);
      above.push(hash('sha256', node, 'buffer'));
    }
    if (level.length % 2 === 1) above.push(level.at(-1) as Buffer);
    level = above;
  }
  return level[0] ?? EMPTY_ROOT;
}
