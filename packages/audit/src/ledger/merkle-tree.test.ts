import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { auditPath, leafHash, merkleRoot, rootOfPath } from './merkle-tree.ts';

/** The leaves and roots that implementations of RFC 6962 are tried on (certificate-transparency, merkletree tests). */
const LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const leavesOf = (count: number) =>
  LEAVES.slice(0, count).map((hex) => leafHash(Buffer.from(hex, 'hex').toString('latin1')));

test.each(ROOTS.map((root, leaves) => ({ leaves, root })))('the root of $leaves known leaves', (known) => {
  expect(merkleRoot(leavesOf(known.leaves))).toBe(known.root);
});

/** The audit paths that the same implementations are tried on; positions count from 0. */
const PATHS = [
  { index: 0, leaves: 1, path: [] },
  {
    index: 0,
    leaves: 8,
    path: [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  },
  {
    index: 5,
    leaves: 8,
    path: [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  },
  {
    index: 2,
    leaves: 3,
    path: ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  },
  {
    index: 1,
    leaves: 5,
    path: [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  },
];

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
