import { type Anchor, makeAnchor } from '@plant-store/audit/ledger/anchor';
import { entriesRoot, headerHash, headerOf, sealBlock } from '@plant-store/audit/ledger/audit-block';
import { creationEntry } from '@plant-store/audit/ledger/audit-entry';
import { storedBlock } from '@plant-store/audit/ledger/stored-block';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyLog } from '../../services/ops/src/audit/verify-log.ts';
import { anchorKey, ledgerUnderTest } from './ledger-under-test.ts';
import { tampering } from './tampering.ts';

const { database, create, anchor } = ledgerUnderTest();
const { signing, public: keys } = anchorKey();
const blocks = database.collection('audit_blocks');
const anchors = database.collection<{ _id: number }>('audit_anchors');
const plants = database.collection<PlantDocument>('plants');
const { read, replace, rechain } = tampering(database);
let shipped: Anchor[];
let stored: PlantDocument[];

/** Chain 0 of six blocks, chain 2 of three; an anchor after the second of them, one after all. */
beforeEach(async () => {
  stored = [];
  for (let block = 1; block <= 3; block++)
    stored.push(...(await create(0, `Rose ${block}`, `Lily ${block}`, `Oak ${block}`)));
  stored.push(...(await create(2, 'Fern', 'Moss')));
  shipped = [await anchor(signing)];
  for (let block = 4; block <= 6; block++)
    stored.push(...(await create(0, `Rose ${block}`, `Lily ${block}`)));
  stored.push(...(await create(2, 'Ivy')), ...(await create(2, 'Yew')));
  shipped.push(await anchor(signing));
});

async function* stream<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

type Asked = { since?: Date; keys?: typeof keys; shipped?: readonly Anchor[] };

const verify = ({ shipped: kept, ...asked }: Asked = {}) =>
  verifyLog(database, { keys, onProgress: () => {}, ...asked, ...(kept && { shipped: stream(kept) }) });

const faults = async (asked?: Asked) =>
  (await verify(asked)).faults.map(({ kind, chain, height, anchor: sequence, plant }) =>
    [
      kind,
      ...[chain, height].filter((part) => part !== undefined),
      sequence && `anchor ${sequence}`,
      plant && `plant ${plant}`,
    ]
      .filter((part) => part !== undefined)
      .join(' '),
  );

const plantAt = (place: number) => stored[place] as PlantDocument;

test('an untouched log passes, and what was verified is told', async () => {
  expect(await verify({ shipped })).toMatchObject({
    faults: [],
    chains: 2,
    blocks: 9,
    entries: 19,
    anchors: 2,
    plants: 19,
    lastAnchor: { sequence: 2 },
  });
});

test('an empty log passes', async () => {
  for (const collection of [blocks, anchors, plants]) await collection.deleteMany({});
  expect(await verify()).toMatchObject({ faults: [], blocks: 0, entries: 0 });
});

describe('each kind of tampering is named with chain and height', () => {
  test('an edited byte of an entry', async () => {
    await blocks.updateOne({ chain: 0, height: 2 }, { $set: { 'entries.1.from.address': '192.0.2.8' } });
    expect(await faults()).toEqual(['entries changed 0 2']);
  });

  test('an edited byte of a header', async () => {
    await blocks.updateOne({ chain: 0, height: 2 }, { $set: { sealer: 'worker-2' } });
    expect(await faults()).toEqual(['header changed 0 2']);
  });

  test('an added field that no hash covers', async () => {
    await blocks.updateOne({ chain: 0, height: 2 }, { $set: { 'entries.1.note': 'x' } });
    expect(await faults()).toContain('malformed block 0 2');
  });

  test('a deleted entry', async () => {
    const block = await read(0, 2);
    await replace({ ...block, entries: block.entries.slice(1) });
    const found = await faults();
    expect(found[0]).toBe('entries changed 0 2');
    expect(found.at(-1)).toBe(`plant not audited plant ${plantAt(3)._id}`);
  });

  test('a deleted entry whose block was sealed again', async () => {
    const block = await read(0, 2);
    const entries = block.entries.slice(1);
    const root = entriesRoot(entries);
    await replace({ ...block, entries, root, hash: headerHash(headerOf({ ...block, entries, root })) });
    expect((await faults())[0]).toBe('chain broken 0 3');
  });

  test('a deleted block', async () => {
    await blocks.deleteOne({ chain: 0, height: 3 });
    expect((await faults())[0]).toBe('missing block 0 3');
  });

  test('a deleted tail', async () => {
    await blocks.deleteMany({ chain: 0, height: { $gt: 4 } });
    expect((await faults())[0]).toBe('tail missing 0 5 anchor 2');
  });

  test('a chain that is gone altogether', async () => {
    await blocks.deleteMany({ chain: 2 });
    expect((await faults())[0]).toBe('tail missing 2 1 anchor 1');
  });

  test('two blocks that were swapped', async () => {
    const [third, fourth] = [await read(0, 3), await read(0, 4)];
    await blocks.deleteMany({ chain: 0, height: { $in: [3, 4] } });
    await blocks.insertMany([storedBlock({ ...third, height: 4 }), storedBlock({ ...fourth, height: 3 })]);
    expect((await faults()).slice(0, 2)).toEqual(['chain broken 0 3', 'header changed 0 3']);
  });

  test('an inserted block', async () => {
    const fourth = await read(0, 4);
    await blocks.updateMany({ chain: 0, height: { $gt: 4 } }, { $inc: { height: 100 } });
    await blocks.updateMany({ chain: 0, height: { $gt: 100 } }, { $inc: { height: -99 } });
    const ghost = { ...creationEntry(plantAt(0)), event: 999n, plant: 999n };
    await blocks.insertOne(storedBlock(sealBlock(0, fourth, [ghost], 'worker-1', new Date())));
    expect(await faults()).toEqual([
      'chain broken 0 6',
      'header changed 0 6',
      'history rewritten 0 6 anchor 2',
      'header changed 0 7',
      'plant missing 0 5 plant 999',
    ]);
  });

  test('a second block at one height', async () => {
    await blocks.dropIndex('chain_height');
    const third = await read(0, 3);
    const ghost = { ...creationEntry(plantAt(0)), event: 999n, plant: 999n };
    await blocks.insertOne(storedBlock(sealBlock(0, third, [ghost], 'worker-1', new Date())));
    expect((await faults())[0]).toBe('second block at one height 0 4');
    await blocks.deleteMany({ 'entries.event': 999n });
    await blocks.createIndex({ chain: 1, height: 1 }, { name: 'chain_height', unique: true });
  });

  test('an edit after which everything was chained anew', async () => {
    const block = await read(0, 2);
    const [first, ...rest] = block.entries;
    const entries = [{ ...first, who: { sub: 'somebody else' } } as typeof first & object, ...rest];
    await rechain({ ...block, entries }, 6);
    expect(await faults()).toEqual(['history rewritten 0 3 anchor 1']);
  });

  test('an entry that was audited twice', async () => {
    await blocks.dropIndex('event');
    const last = await read(2, 3);
    await blocks.insertOne(
      storedBlock(sealBlock(2, last, [creationEntry(plantAt(0))], 'worker-1', new Date())),
    );
    expect(await faults()).toEqual([`plant audited twice 0 1 plant ${plantAt(0)._id}`]);
    await blocks.deleteOne({ chain: 2, height: 4 });
    await blocks.createIndex({ 'entries.event': 1 }, { name: 'event', unique: true });
  });

  test('a deleted plant', async () => {
    await plants.deleteOne({ _id: plantAt(4)._id });
    expect(await faults()).toEqual([`plant missing 0 2 plant ${plantAt(4)._id}`]);
  });

  test.each([
    ['name', { name: 'Rose 2.0' }],
    ['tag', { tag: 'other' }],
    ['name, to what is no text', { name: 5 as never }],
  ])("a plant's changed %s", async (_field, change) => {
    await plants.updateOne({ _id: plantAt(4)._id }, { $set: change });
    expect(await faults()).toEqual([`plant changed 0 2 plant ${plantAt(4)._id}`]);
  });

  test("a plant's changed id", async () => {
    const plant = plantAt(4);
    await plants.deleteOne({ _id: plant._id });
    await plants.insertOne({ ...plant, _id: 777n });
    expect((await faults()).toSorted()).toEqual(
      ['plant not audited plant 777', `plant missing 0 2 plant ${plant._id}`].toSorted(),
    );
  });

  test('a plant that was put in beside the API', async () => {
    await plants.insertOne({ ...plantAt(0), _id: 777n });
    expect(await faults()).toEqual(['plant not audited plant 777']);
  });

  test('a forged anchor: signed by another key, by a known one over something else, or not linked', async () => {
    const [first, second] = shipped as [Anchor, Anchor];
    const other = anchorKey().signing;
    const put = (made: Anchor) => anchors.replaceOne({ _id: made.sequence }, made);
    await put(makeAnchor(first, second.heads, new Date(second.time), other));
    expect(await faults()).toEqual(['forged anchor anchor 2']);
    await put({ ...second, entries: second.entries + 1 });
    expect(await faults()).toEqual(['forged anchor anchor 2']);
    await put(makeAnchor({ ...first, entries: 5 }, second.heads, new Date(second.time), signing));
    expect(await faults()).toEqual(['anchors broken anchor 2']);
    await put({ ...second, heads: 'none' } as never);
    expect(await faults()).toEqual(['malformed anchor anchor 2']);
  });

  test('a deleted anchor', async () => {
    await anchors.deleteOne({ _id: 1 });
    expect(await faults()).toEqual(['missing anchor anchor 1']);
  });
});

describe('what only anchors that were kept outside can tell', () => {
  test('a tail that was cut together with the anchors that name it', async () => {
    await blocks.deleteMany({ chain: 0, height: { $gt: 4 } });
    await anchors.deleteOne({ _id: 2 });
    await plants.deleteMany({ _id: { $in: stored.slice(13, 17).map(({ _id }) => _id) } });
    expect(await faults()).toEqual([]);
    expect(await faults({ shipped })).toEqual(['missing anchor anchor 2', 'tail missing 0 5 anchor 2']);
  });

  test('a history that was written anew with the key at hand, anchors and all', async () => {
    const block = await read(0, 2);
    const [first, ...rest] = block.entries;
    await rechain(
      { ...block, entries: [{ ...first, who: { sub: 'x' } } as typeof first & object, ...rest] },
      6,
    );
    await anchors.deleteMany({});
    await anchor(signing);
    expect(await faults()).toEqual([]);
    expect(await faults({ shipped })).toEqual([
      'anchor replaced anchor 1',
      'missing anchor anchor 2',
      'history rewritten 0 3 anchor 1',
    ]);
  });

  test('lines that come twice, and no others, change nothing', async () => {
    expect(await faults({ shipped: [...shipped, ...shipped] })).toEqual([]);
    const forged = makeAnchor(shipped[1], [], new Date(), anchorKey().signing);
    expect(await faults({ shipped: [forged] })).toEqual(['forged anchor anchor 3']);
  });
});

test('after a rotation both keys are needed, and suffice', async () => {
  const next = anchorKey();
  await create(0, 'Rose 7');
  await anchor(next.signing);
  expect(await faults()).toEqual(['forged anchor anchor 3']);
  expect(await faults({ keys: new Map([...keys, ...next.public]) })).toEqual([]);
});

test('since a time, the last anchor before it vouches for what was', async () => {
  const [first] = shipped as [Anchor];
  await blocks.updateOne({ chain: 0, height: 2 }, { $set: { sealer: 'worker-2' } });
  const since = new Date(Date.parse(first.time) + 1);
  expect(await verify({ since })).toMatchObject({ faults: [], blocks: 5, entries: 8, anchors: 2 });
  await blocks.updateOne({ chain: 0, height: 5 }, { $set: { sealer: 'worker-2' } });
  expect(await faults({ since })).toEqual(['header changed 0 5']);
  expect(await faults({ since: new Date(0) })).toEqual(['header changed 0 2', 'header changed 0 5']);
});

test('it passes while plants are created, indexed, audited and anchored beside it', async () => {
  let writing = true;
  const writer = (async () => {
    while (writing) {
      await create(Math.floor(Math.random() * 4), 'Rose', 'Lily');
      await anchor(signing);
    }
  })();
  try {
    for (let round = 0; round < 5; round++) expect(await faults()).toEqual([]);
  } finally {
    writing = false;
    await writer;
  }
});
