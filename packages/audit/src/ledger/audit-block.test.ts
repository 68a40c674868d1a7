import { createHash } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { type AuditBlock, GENESIS, headerHash, headerOf, headOf, sealBlock } from './audit-block.ts';
import type { AuditEntry } from './audit-entry.ts';

const COMMIT = new ObjectId('6650f0c2a1b2c3d4e5f60700');

const time = new Date('2026-03-04T05:06:07.008Z');
const entryFor = (plant: bigint): AuditEntry => ({
  event: plant,
  action: 'created',
  plant,
  content: '01'.repeat(32),
  commit: COMMIT,
  who: { sub: 's' },
  when: time,
  from: { address: 'a', request: 'r', instance: 'i' },
});

test('the first block of a chain follows zeros, the next one its hash', () => {
  const first = sealBlock(2, GENESIS, [entryFor(1n)], 'worker-1', time);
  const second = sealBlock(2, headOf(first), [entryFor(2n)], 'worker-2', time);
  expect(first).toMatchObject({ version: 2, chain: 2, height: 1, previous: '00'.repeat(32) });
  expect(second).toMatchObject({ chain: 2, height: 2, previous: first.hash });
});

test('the header that is hashed is fixed to the byte', () => {
  const block = sealBlock(3, GENESIS, [entryFor(1n), entryFor(2n)], 'worker-1', time);
  const header =
    `{"chain":3,"entries":2,"height":1,"previous":"${'00'.repeat(32)}",` +
    `"root":"${block.root}","sealer":"worker-1","time":"2026-03-04T05:06:07.008Z","version":2}`;
  expect(block.hash).toBe(createHash('sha256').update(header).digest('hex'));
});

test('where the time of publication is known, the header has it, fixed to the byte', () => {
  const published = {
    first: new Date('2026-03-04T05:06:07.001Z'),
    last: new Date('2026-03-04T05:06:07.002Z'),
  };
  const block = sealBlock(3, GENESIS, [entryFor(1n)], 'worker-1', time, published);
  const header =
    `{"chain":3,"entries":1,"height":1,"previous":"${'00'.repeat(32)}",` +
    `"published":{"first":"2026-03-04T05:06:07.001Z","last":"2026-03-04T05:06:07.002Z"},` +
    `"root":"${block.root}","sealer":"worker-1","time":"2026-03-04T05:06:07.008Z","version":2}`;
  expect(block.hash).toBe(createHash('sha256').update(header).digest('hex'));
});

test('whatever is changed in a block changes its hash, entries through the root', () => {
  const block = sealBlock(1, GENESIS, [entryFor(1n), entryFor(2n)], 'worker-1', time);
  const resealed = (entries: AuditEntry[]) => sealBlock(1, GENESIS, entries, 'worker-1', time).hash;
  const changed: AuditBlock[] = [
    { ...block, chain: 2 },
    { ...block, height: 2 },
    { ...block, previous: '01'.repeat(32) },
    { ...block, root: '00'.repeat(32) },
    { ...block, sealer: 'worker-2' },
    { ...block, time: new Date(0) },
    { ...block, published: { first: time, last: time } },
    { ...block, published: { first: time, last: new Date(0) } },
    { ...block, entries: [entryFor(1n)] },
  ];
  const hashes = [
    block.hash,
    ...changed.map((other) => headerHash(headerOf(other))),
    resealed([entryFor(2n), entryFor(1n)]),
    resealed([entryFor(1n), entryFor(3n)]),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});
