import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { auditPath, leafHash, merkleRoot, rootOfPath } from './merkle-tree.ts';
import vectors from './rfc6962-vectors.json' with { type: 'json' };

/** What implementations of RFC 6962 are tried on, as in certificate-transparency's own tests. */
const { leaves: LEAVES, roots: ROOTS, paths: PATHS } = vectors;

const leavesOf = (count: number) =>
  LEAVES.slice(0, count).map((hex) => leafHash(Buffer.from(hex, 'hex').toString('latin1')));

test.each(ROOTS.map((root, leaves) => ({ leaves, root })))('the root of $leaves known leaves', (known) => {
  expect(merkleRoot(leavesOf(known.leaves))).toBe(known.root);
});

test.each(PATHS)(
  'the audit path of leaf $index of $leaves is the published one',
  ({ index, leaves, path }) => {
    const known = leavesOf(leaves);
    expect(auditPath(known, index)).toEqual(path);
    expect(rootOfPath(known[index] as string, index, leaves, path)).toBe(ROOTS[leaves]);
  },
);

test('any number of leaves gives the tree of the definition, and a path from each leaf to its root', () => {
  const node = (left: string, right: string) =>
    hash('sha256', Buffer.from(`01${left}${right}`, 'hex'), 'hex');
  const byDefinition = (leaves: string[]): string => {
    if (leaves.length === 1) return leaves[0] as string;
    const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
    return node(byDefinition(leaves.slice(0, split)), byDefinition(leaves.slice(split)));
  };
  const leaves = Array.from({ length: 70 }, (_, index) => leafHash(`entry ${index}`));
  for (let count = 1; count <= leaves.length; count++) {
    const some = leaves.slice(0, count);
    const root = byDefinition(some);
    expect(merkleRoot(some)).toBe(root);
    for (const [index, leaf] of some.entries()) {
      expect(rootOfPath(leaf, index, count, auditPath(some, index))).toBe(root);
    }
  }
});

test('a path of another length, another position or another leaf does not give the root', () => {
  const leaves = leavesOf(7);
  const [leaf, root] = [leaves[4] as string, merkleRoot(leaves)];
  const path = auditPath(leaves, 4);
  expect(rootOfPath(leaf, 4, 7, path)).toBe(root);
  expect(rootOfPath(leaf, 4, 7, path.slice(1))).toBeUndefined();
  expect(rootOfPath(leaf, 4, 7, [...path, root])).toBeUndefined();
  expect(rootOfPath(leaf, 7, 7, path)).toBeUndefined();
  expect(rootOfPath(leaf, 3, 7, path)).not.toBe(root);
  expect(rootOfPath(leaves[5] as string, 4, 7, path)).not.toBe(root);
});
