import { BSON, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { GENESIS, sealBlock } from '../ledger/audit-block.ts';
import type { CreationEntry } from '../ledger/audit-entry.ts';
import { storedBlock } from '../ledger/stored-block.ts';
import { planBlocks } from './plan-blocks.ts';

const COMMIT = new ObjectId('6650f0c2a1b2c3d4e5f60700');

const entry = (plant: number, sub = 's'): CreationEntry => ({
  event: BigInt(plant),
  action: 'created',
  plant: BigInt(plant),
  content: 'ab'.repeat(32),
  commit: COMMIT,
  who: { sub, iss: 'issuer', jti: 'token' },
  when: new Date(),
  from: { address: '2001:db8::1', request: '🌹'.repeat(64), instance: 'api-1' },
});
const entries = (count: number) => Array.from({ length: count }, (_, index) => entry(index));
const roomy = { entriesMax: 1_000, bytesMax: 1_000_000 };

test('nothing gives no block', () => {
  expect(planBlocks([], roomy)).toEqual([]);
});

test('blocks are bounded by entries, keep the order and lose nothing', () => {
  const planned = planBlocks(entries(25), { ...roomy, entriesMax: 10 });
  expect(planned.map((block) => block.length)).toEqual([10, 10, 5]);
  expect(planned.flat()).toEqual(
    entries(25).map((expected, index) => ({ ...expected, when: planned.flat()[index]?.when })),
  );
});

test('blocks are bounded by bytes, and the estimate is never below what is stored', () => {
  const bytesMax = 50_000;
  const planned = planBlocks(entries(500), { ...roomy, bytesMax });
  expect(planned.length).toBeGreaterThan(1);
  for (const block of planned) {
    const stored = storedBlock(sealBlock(0, GENESIS, block, 'worker-1', new Date()));
    expect(BSON.calculateObjectSize(stored)).toBeLessThan(bytesMax);
  }
});

test('an entry larger than the bound is a block of its own', () => {
  const planned = planBlocks([entry(1), entry(2, 'x'.repeat(100_000)), entry(3)], {
    ...roomy,
    bytesMax: 10_000,
  });
  expect(planned.map((block) => block.map(({ plant }) => plant))).toEqual([[1n], [2n], [3n]]);
});

test('an event stands once', () => {
  expect(planBlocks([entry(1), entry(2), entry(1)], roomy).flat()).toHaveLength(2);
});
