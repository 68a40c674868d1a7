import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepAnchoring } from '@plant-store/audit/anchoring/keep-anchoring';
import { anchorHash, canonicalAnchor, isSignedBy, readAnchor } from '@plant-store/audit/ledger/anchor';
import { mongoAnchors } from '@plant-store/audit/mongo/mongo-anchors';
import { expect, test } from 'vitest';
import { anchorOutput } from '../../services/worker/src/anchor-output.ts';
import { waitFor } from '../harness/wait-for.ts';
import { anchoring, anchorKey, ledgerUnderTest } from './ledger-under-test.ts';

const { client, database, create, anchor } = ledgerUnderTest();
const name = database.databaseName;
const { signing, public: keys } = anchorKey();
const anchors = database.collection<{ _id: number; emitted: boolean }>('audit_anchors');
const stored = async () =>
  (await anchors.find().sort({ _id: 1 }).toArray()).map(({ _id, emitted, ...rest }) => readAnchor(rest));

test('an anchor holds all heads, counts the entries and follows the one before it', async () => {
  await create(0, 'Rose', 'Lily');
  const first = await anchor(signing);
  await create(0, 'Oak');
  await create(3, 'Fern', 'Moss', 'Ivy');
  const second = await anchor(signing);
  expect(first).toMatchObject({ sequence: 1, previous: '00'.repeat(32), entries: 2 });
  expect(first.heads).toMatchObject([{ chain: 0, height: 1, entries: 2 }]);
  expect(second).toMatchObject({ sequence: 2, previous: anchorHash(first), entries: 6 });
  expect(second.heads).toMatchObject([
    { chain: 0, height: 2, entries: 3 },
    { chain: 3, height: 1, entries: 3 },
  ]);
  for (const made of [first, second]) {
    const [[id, key]] = [...keys] as [[string, never]];
    expect(made.key).toBe(id);
    expect(JSON.parse(canonicalAnchor(made))).toEqual(made);
    expect(isSignedBy(made, key)).toBe(true);
    expect(isSignedBy({ ...made, entries: made.entries + 1 }, key)).toBe(false);
  }
});

test('several workers make one anchor an interval between them, also when nothing happens', async () => {
  const failures: unknown[] = [];
  const workers = [1, 2, 3].map(() =>
    keepAnchoring(
      anchoring(client, name, signing, { intervalMs: 200, on: { failed: (error) => failures.push(error) } }),
    ),
  );
  await waitFor(async () => (await anchors.countDocuments()) >= 5, {
    withinMs: 15_000,
    what: 'five anchors',
  });
  await Promise.all(workers.map((worker) => worker.close()));
  const made = await stored();
  expect(failures).toEqual([]);
  for (const [index, one] of made.entries()) {
    const before = made[index - 1];
    expect(one?.sequence).toBe(index + 1);
    if (before === undefined || one === undefined) continue;
    expect(one.previous).toBe(anchorHash(before));
    expect(Date.parse(one.time) - Date.parse(before.time)).toBeGreaterThanOrEqual(200);
  }
});

test('an anchor is written out once it is stored, and again when a crash came between', async () => {
  const output = join(await mkdtemp(join(tmpdir(), 'plant-store-test-')), 'anchors.jsonl');
  const lines = async () =>
    (await readFile(output, 'utf8').catch(() => ''))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const left = await anchor(signing, new Date(Date.now() - 60_000));
  await using worker = closing(
    keepAnchoring(anchoring(client, name, signing, { emit: anchorOutput(output) as never })),
  );
  void worker;
  await waitFor(async () => (await lines()).length === 2, { withinMs: 10_000, what: 'both are written out' });
  const [newer, older] = await lines();
  expect(older).toEqual(left);
  expect(newer).toMatchObject({ sequence: 2, previous: anchorHash(left) });
  await waitFor(async () => (await anchors.countDocuments({ emitted: false })) === 0, {
    withinMs: 10_000,
    what: 'none is left to be written out',
  });
});

test('an output that cannot be written to is tried again, and the anchors are made meanwhile', async () => {
  let full = true;
  const lines: string[] = [];
  const failures: unknown[] = [];
  const emit = async (line: string) => {
    if (full) throw new Error('no space left on device');
    lines.push(line);
  };
  // Its clock runs ahead of the anchors' times, so that what is left counts as old.
  const now = () => new Date(Date.now() + 20_000 * anchorsMade);
  let anchorsMade = 0;
  await using worker = closing(
    keepAnchoring(
      anchoring(client, name, signing, {
        intervalMs: 100,
        emit,
        now,
        on: { made: () => anchorsMade++, failed: (error) => failures.push(error) },
      }),
    ),
  );
  void worker;
  await waitFor(async () => (await anchors.countDocuments()) >= 2, { withinMs: 10_000, what: 'two anchors' });
  expect(failures).not.toEqual([]);
  full = false;
  await waitFor(() => lines.length >= 2, { withinMs: 10_000, what: 'they are written out' });
});

test('a block that an anchor names and that is gone or changed is told before the next anchor', async () => {
  await create(0, 'Rose');
  await create(1, 'Lily');
  await create(2, 'Oak');
  await anchor(signing, new Date(0));
  const blocks = database.collection('audit_blocks');
  await blocks.deleteOne({ chain: 0 });
  await blocks.updateOne({ chain: 1 }, { $set: { hash: Buffer.alloc(32) } });
  const changed: number[] = [];
  await using worker = closing(
    keepAnchoring(anchoring(client, name, signing, { on: { changed: ({ chain }) => changed.push(chain) } })),
  );
  void worker;
  await waitFor(async () => (await anchors.countDocuments()) === 2, {
    withinMs: 10_000,
    what: 'the next anchor',
  });
  expect(changed.toSorted()).toEqual([0, 1]);
});

test('an anchor from a clock that runs ahead holds back no other', async () => {
  await anchor(signing, new Date(Date.now() + 3_600_000));
  await using worker = closing(keepAnchoring(anchoring(client, name, signing, { intervalMs: 200 })));
  void worker;
  await waitFor(async () => (await anchors.countDocuments()) >= 2, {
    withinMs: 10_000,
    what: 'the next anchor',
  });
});

test('a sequence number is taken once', async () => {
  const store = mongoAnchors(client, name);
  const first = await anchor(signing);
  expect(await store.add(first)).toBe(false);
});

function closing<T extends { close: () => Promise<void> }>(loop: T): T & AsyncDisposable {
  return { ...loop, [Symbol.asyncDispose]: loop.close };
}
