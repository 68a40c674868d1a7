import { expect, test, vi } from 'vitest';
import { type BatcherOptions, createBatcher } from './batcher.ts';

const bounds = {
  keyOf: (item: string) => item,
  sizeOf: () => 1,
  batchItemsMax: 3,
  batchBytesMax: 100,
  waitingItemsMax: 10,
  waitingBytesMax: 100,
  waitMsMax: 10_000,
  patienceMs: 10_000,
  runsMax: 2,
  refused: () => 'refused',
  failed: () => 'failed',
};

/** A batcher whose runs end when the test says so. */
function manual(options: Partial<BatcherOptions<string, string>> = {}) {
  const runs: {
    batch: readonly string[];
    end: (results?: string[]) => void;
    fail: (error: Error) => void;
  }[] = [];
  const batcher = createBatcher<string, string>({
    ...bounds,
    run: (batch) =>
      new Promise((resolve, reject) =>
        runs.push({
          batch,
          end: (results = batch.map((item) => `${item}!`)) => resolve(results),
          fail: reject,
        }),
      ),
    ...options,
  });
  return { batcher, runs };
}

test('alone, an item is run at once; what arrives meanwhile forms the next batch', async () => {
  const { batcher, runs } = manual();
  const first = batcher.submit('a');
  const others = [batcher.submit('b'), batcher.submit('c')];
  expect(runs.map(({ batch }) => batch)).toEqual([['a']]);
  runs[0]?.end();
  expect(await first).toBe('a!');
  expect(runs.map(({ batch }) => batch)).toEqual([['a'], ['b', 'c']]);
  runs[1]?.end();
  expect(await Promise.all(others)).toEqual(['b!', 'c!']);
});

test('no key stands twice in a batch, and order is kept', async () => {
  const { batcher, runs } = manual();
  const all = ['x', 'a', 'a', 'b'].map((item) => batcher.submit(item));
  runs[0]?.end();
  await all[0];
  expect(runs[1]?.batch).toEqual(['a', 'b']);
  runs[1]?.end();
  await all[1];
  expect(runs[2]?.batch).toEqual(['a']);
  runs[2]?.end();
  await Promise.all(all);
});

test('a batch is bounded by items and by bytes, and an item over the bytes goes alone', async () => {
  const { batcher, runs } = manual({
    sizeOf: (item) => Number(item),
    batchBytesMax: 10,
    waitingBytesMax: 1_000,
  });
  const all = ['1', '2', '3', '4', '5', '50', '6'].map((item) => batcher.submit(item));
  const batches: (readonly string[])[] = [];
  for (let index = 0; index < 5; index++) {
    batches.push(runs[index]?.batch ?? []);
    runs[index]?.end();
    await vi.waitUntil(() => runs.length > index + 1 || batcher.waiting() === 0);
  }
  await Promise.all(all);
  expect(batches).toEqual([['1'], ['2', '3', '4'], ['5'], ['50'], ['6']]);
});

test('what waits is bounded by count and by bytes', async () => {
  const { batcher, runs } = manual({ waitingItemsMax: 1 });
  void batcher.submit('a');
  void batcher.submit('b');
  expect(await batcher.submit('c')).toBe('refused');
  runs[0]?.end();
  await vi.waitUntil(() => runs.length === 2);
  runs[1]?.end();
  await batcher.idle();

  const heavy = manual({ sizeOf: (item) => item.length, waitingBytesMax: 3 });
  void heavy.batcher.submit('a');
  void heavy.batcher.submit('bbb');
  expect(await heavy.batcher.submit('c')).toBe('refused');
});

test('what waits too long is refused, what is in flight is not', async () => {
  const { batcher, runs } = manual({ waitMsMax: 20 });
  const first = batcher.submit('a');
  expect(await batcher.submit('b')).toBe('refused');
  runs[0]?.end();
  expect(await first).toBe('a!');
  expect(runs).toHaveLength(1);
});

test('a slow run holds the next one back for its patience only, and so many at most', async () => {
  const { batcher, runs } = manual({ patienceMs: 5, runsMax: 2 });
  const all = ['a', 'b', 'c'].map((item) => batcher.submit(item));
  await vi.waitUntil(() => runs.length === 2);
  expect(runs.map(({ batch }) => batch)).toEqual([['a'], ['b', 'c']]);
  const fourth = batcher.submit('d');
  runs[1]?.end();
  await vi.waitUntil(() => runs.length === 3);
  runs[0]?.end();
  runs[2]?.end();
  expect(await Promise.all([...all, fourth])).toEqual(['a!', 'b!', 'c!', 'd!']);
});

test('a run that throws, or answers too few, fails its own items alone', async () => {
  const { batcher, runs } = manual();
  const first = batcher.submit('a');
  const second = batcher.submit('b');
  runs[0]?.fail(new Error('defect'));
  expect(await first).toBe('failed');
  runs[1]?.end([]);
  expect(await second).toBe('failed');
  await batcher.idle();
});
