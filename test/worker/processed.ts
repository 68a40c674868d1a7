import {
  type AuditBlock,
  entriesRoot,
  GENESIS,
  headerHash,
  headerOf,
} from '@plant-store/audit/ledger/audit-block';
import { readBlock } from '@plant-store/audit/ledger/stored-block';
import type { SearchEntry } from '@plant-store/search/search-entry';
import type { Db } from 'mongodb';
import { expect } from 'vitest';
import type { PlantDocument } from '../../packages/contracts/src/plant-document.ts';
import { waitFor } from '../harness/wait-for.ts';

/** Waits until no plant is pending, but for those named. */
export async function untilProcessed(
  database: Db,
  { withinMs = 15_000, but = [] as bigint[] } = {},
): Promise<void> {
  const pending = { pending: true, _id: { $nin: but } } as object;
  await waitFor(async () => (await database.collection('plants').countDocuments(pending)) === 0, {
    withinMs,
    what: 'no plant is pending',
  });
}

/**
 * Asserts what must hold once everything is processed (E1–E3): every plant but those named is indexed with its content and
 * audited exactly once, nothing else is, no flag is left, and each chain is whole.
 */
export async function expectProcessed(database: Db, { but = [] as bigint[] } = {}): Promise<void> {
  const plants = await database.collection<PlantDocument>('plants').find().sort({ _id: 1 }).toArray();
  const processed = plants.filter(({ _id }) => !but.includes(_id));
  expect(processed.filter(({ pending }) => pending !== undefined)).toEqual([]);
  expect(plants.filter(({ _id, pending }) => but.includes(_id) && pending !== true)).toEqual([]);

  const index = await database.collection<SearchEntry>('plant_search').find().sort({ _id: 1 }).toArray();
  expect(index.map(({ _id, name, tag }) => ({ _id, name, tag }))).toEqual(
    processed.map(({ _id, name, tag }) => ({ _id, name, tag })),
  );

  const blocks = await readChains(database);
  const audited = blocks.flatMap(({ entries }) => entries.map(({ event }) => event as bigint));
  expect(audited.toSorted(byValue)).toEqual(processed.map(({ _id }) => _id));
}

/** The stored blocks by chain and height, each chain checked: heights without a gap, every hash as it must be. */
export async function readChains(database: Db): Promise<AuditBlock[]> {
  const stored = await database
    .collection('audit_blocks')
    .find({}, { projection: { _id: 0 } })
    .sort({ chain: 1, height: 1 })
    .toArray();
  const blocks = stored.map(readBlock);
  for (const [position, block] of blocks.entries()) {
    const before = blocks[position - 1];
    const first = before?.chain !== block.chain;
    expect(block.height).toBe(first ? 1 : (before as AuditBlock).height + 1);
    expect(block.previous).toEqual(first ? GENESIS.hash : (before as AuditBlock).hash);
    expect(block.root).toEqual(entriesRoot(block.entries));
    expect(block.hash).toEqual(headerHash(headerOf(block)));
  }
  return blocks;
}

function byValue(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
