import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { leafHash, merkleRoot } from './merkle-tree.ts';

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

test.each(ROOTS.map((root, leaves) => ({ leaves, root })))('the root of $leaves known leaves', (known) => {
  const leaves = LEAVES.slice(0, known.leaves).map((hex) =>
    leafHash(Buffer.from(hex, 'hex').toString('latin1')),
  );
  expect(merkleRoot(leaves).toString('hex')).toBe(known.root);
});

test('any number of leaves gives the tree of the definition', () => {
  const node = (left: Buffer, right: Buffer) =>
    hash('sha256', Buffer.concat([Buffer.of(1), left, right]), 'buffer');
  const byDefinition = (leaves: Buffer[]): Buffer => {
    if (leaves.length === 1) return leaves[0] as Buffer;
    const split = 2 ** Math.floor(Math.log2(leaves.length - 1));
    return node(byDefinition(leaves.slice(0, split)), byDefinition(leaves.slice(split)));
  };
  const leaves = Array.from({ length: 70 }, (_, index) => leafHash(`entry ${index}`));
  for (let count = 1; count <= leaves.length; count++) {
    expect(merkleRoot(leaves.slice(0, count))).toEqual(byDefinition(leaves.slice(0, count)));
  }
});
