import { hash } from 'node:crypto';

const HASH_BYTES = 32;
/** RFC 6962 §2.1: leaves and nodes have different prefixes, so that no inner node can be presented as an entry. */
const LEAF_PREFIX = '\x00';
const NODE_PREFIX = 0x01;

/** The hash of a tree without leaves: SHA-256 of nothing. */
const EMPTY_ROOT = hash('sha256', '', 'hex');

/** Hashes are in hexadecimal: in Node, a digest as text costs a third of one as a Buffer. */
export function leafHash(entry: string): string {
  return hash('sha256', LEAF_PREFIX + entry, 'hex');
}

const node = Buffer.alloc(1 + 2 * HASH_BYTES);
node[0] = NODE_PREFIX;

function nodeHash(left: string, right: string): string {
  node.write(left, 1, 'hex');
  node.write(right, 1 + HASH_BYTES, 'hex');
  return hash('sha256', node, 'hex');
}

/**
 * The Merkle tree hash of RFC 6962 §2.1. Pairing level by level and carrying an odd last node up unchanged gives the
 * same tree as the RFC's splitting at the largest power of two below n.
 */
export function merkleRoot(leaves: readonly string[]): string {
  let level = leaves;
  while (level.length > 1) level = levelAbove(level);
  return level[0] ?? EMPTY_ROOT;
}

/** The audit path of RFC 6962 §2.1.1: the hashes that, with the leaf, give the root; the lowest first. */
export function auditPath(leaves: readonly string[], index: number): string[] {
  const path: string[] = [];
  let level = leaves;
  let position = index;
  while (level.length > 1) {
    const sibling = level[position ^ 1];
    if (sibling !== undefined) path.push(sibling);
    level = levelAbove(level);
    position >>= 1;
  }
  return path;
}

/** The root that a leaf and its audit path give (RFC 9162 §2.1.3.2), or undefined when the path has the wrong length. */
export function rootOfPath(
  leaf: string,
  index: number,
  leaves: number,
  path: readonly string[],
): string | undefined {
  if (index < 0 || index >= leaves) return undefined;
  let result = leaf;
  let position = index;
  let last = leaves - 1;
  for (const sibling of path) {
    if (last === 0) return undefined;
    if (position % 2 === 1 || position === last) {
      result = nodeHash(sibling, result);
      while (position % 2 === 0 && position !== 0) {
        position = Math.floor(position / 2);
        last = Math.floor(last / 2);
      }
    } else {
      result = nodeHash(result, sibling);
    }
    position = Math.floor(position / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? result : undefined;
}

function levelAbove(level: readonly string[]): string[] {
  const above: string[] = [];
  for (let index = 0; index + 1 < level.length; index += 2) {
    above.push(nodeHash(level[index] as string, level[index + 1] as string));
  }
  if (level.length % 2 === 1) above.push(level.at(-1) as string);
  return above;
}
