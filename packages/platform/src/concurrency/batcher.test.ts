import { expect, onTestFinished, test, vi } from 'vitest';
import { type BatcherOptions, createBatcher } from './batcher.ts';

/** For timers of some milliseconds, on a busy machine. */
const BUSY = { timeout: 10_000 };

const bounds = {
  keyOf: (item: string) => item,
  sizeOf: () => 1,
  batchItemsMax: 3,
  batchBytesMax: 100,
  waitingItemsMax: 10,
  waitingBytesMax: 100,
  waitMsMax: 10_000,
  slowAfterMs: 10_000,
  batchesMax: 2,
  refused: () => 'refused',
  failed: () => 'failed',
};

/** A batcher whose batches are done when the test says so. */
function manual(options: Partial<BatcherOptions<string, string>> = {}) {
  const inProcess: {
    batch: readonly string[];
    end: (results?: string[]) => void;
    fail: (error: Error) => void;
  }[] = [];
  const batcher = createBatcher<string, string>({
    ...bounds,
    process: (batch) =>
      new Promise((resolve, reject) =>
        inProcess.push({
          batch,
          end: (results = batch.map((item) => `${item}!`)) => resolve(results),
          fail: reject,
        }),
      ),
    ...options,
  });
  return { batcher, inProcess };
}

test('alone, an item is processed at once; what arrives meanwhile forms the next batch', async () => {
  const { batcher, inProcess } = manual();
  const first = batcher.submit('a');
  const others = [batcher.submit('b'), batcher.submit('c')];
  expect(inProcess.map(({ batch }) => batch)).toEqual([['a']]);
  inProcess[0]?.end();
  expect(await first).toBe('a!');
  expect(inProcess.map(({ batch }) => batch)).toEqual([['a'], ['b', 'c']]);
  inProcess[1]?.end();
  expect(await Promise.all(others)).toEqual(['b!', 'c!']);
});

test('a full batch starts beside the one in flight; what comes then waits, full or not', async () => {
  const { batcher, inProcess } = manual({ batchesMax: 4 });
  const all = ['a', 'b', 'c'].map((item) => batcher.submit(item));
  expect(batcher.hasFullBatch()).toBe(false);
  for (const item of ['d', 'e', 'f', 'g']) all.push(batcher.submit(item));
  expect(inProcess.map(({ batch }) => batch)).toEqual([['a'], ['b', 'c', 'd']]);
  expect(batcher.hasFullBatch()).toBe(true);
  inProcess[0]?.end();
  await all[0];
  expect(inProcess[2]?.batch).toEqual(['e', 'f', 'g']);
  all.push(batcher.submit('h'));
  inProcess[1]?.end();
  await all[1];
  expect(inProcess).toHaveLength(3);
  inProcess[2]?.end();
  await all[4];
  expect(inProcess[3]?.batch).toEqual(['h']);
  inProcess[3]?.end();
  await Promise.all(all);
});

test('a batch is also full by its bytes, and slow batches do not hold back a full one', async () => {
  const { batcher, inProcess } = manual({
    sizeOf: (item) => Number(item),
    batchItemsMax: 100,
    batchBytesMax: 10,
    slowAfterMs: 20,
    batchesMax: 4,
  });
  const all = ['1', '4', '5', '2', '9'].map((item) => batcher.submit(item));
  expect(inProcess.map(({ batch }) => batch)).toEqual([['1'], ['4', '5']]);
  expect(batcher.hasFullBatch()).toBe(true);
  await vi.waitUntil(() => inProcess.length === 4, BUSY);
  for (const item of ['6', '7']) all.push(batcher.submit(item));
  expect(batcher.hasFullBatch()).toBe(true);
  expect(inProcess.map(({ batch }) => batch)).toEqual([['1'], ['4', '5'], ['2'], ['9']]);
  for (const { end } of inProcess) end();
  await vi.waitUntil(() => inProcess.length === 6, BUSY);
  for (const { end } of inProcess.slice(4)) end();
  await Promise.all(all);
});

test('no key stands twice in a batch, and order is kept', async () => {
  const { batcher, inProcess } = manual();
  const all = ['x', 'a', 'a', 'b'].map((item) => batcher.submit(item));
  inProcess[0]?.end();
  await all[0];
  expect(inProcess[1]?.batch).toEqual(['a', 'b']);
  inProcess[1]?.end();
  await all[1];
  expect(inProcess[2]?.batch).toEqual(['a']);
  inProcess[2]?.end();
  await Promise.all(all);
});

test('a batch is bounded by items and by bytes, and an item over the bytes goes alone', async () => {
  const { batcher, inProcess } = manual({
    sizeOf: (item) => Number(item),
    batchBytesMax: 10,
    waitingBytesMax: 1_000,
  });
  const all = ['1', '2', '3', '4', '5', '50', '6'].map((item) => batcher.submit(item));
  const batches: (readonly string[])[] = [];
  for (let index = 0; index < 5; index++) {
    batches.push(inProcess[index]?.batch ?? []);
    inProcess[index]?.end();
    await vi.waitUntil(() => inProcess.length > index + 1 || batcher.waiting() === 0, BUSY);
  }
  await Promise.all(all);
  expect(batches).toEqual([['1'], ['2', '3', '4'], ['5'], ['50'], ['6']]);
});

test('what waits is bounded by count and by bytes', async () => {
  const { batcher, inProcess } = manual({ waitingItemsMax: 1 });
  void batcher.submit('a');
  void batcher.submit('b');
  expect(await batcher.submit('c')).toBe('refused');
  inProcess[0]?.end();
  await vi.waitUntil(() => inProcess.length === 2, BUSY);
  inProcess[1]?.end();
  await batcher.idle();

  const heavy = manual({ sizeOf: (item) => item.length, waitingBytesMax: 3 });
  void heavy.batcher.submit('a');
  void heavy.batcher.submit('bbb');
  expect(await heavy.batcher.submit('c')).toBe('refused');
});

test('what waits too long is refused, what is in flight is not', async () => {
  const { batcher, inProcess } = manual({ waitMsMax: 20 });
  const first = batcher.submit('a');
  expect(await batcher.submit('b')).toBe('refused');
  inProcess[0]?.end();
  expect(await first).toBe('a!');
  expect(inProcess).toHaveLength(1);
});

test('a slow batch holds the next one back for a limited time, and no more than so many are in flight', async () => {
  const { batcher, inProcess } = manual({ slowAfterMs: 5, batchesMax: 2 });
  const all = ['a', 'b', 'c'].map((item) => batcher.submit(item));
  await vi.waitUntil(() => inProcess.length === 2, BUSY);
  expect(inProcess.map(({ batch }) => batch)).toEqual([['a'], ['b', 'c']]);
  const fourth = batcher.submit('d');
  inProcess[1]?.end();
  await vi.waitUntil(() => inProcess.length === 3, BUSY);
  inProcess[0]?.end();
  inProcess[2]?.end();
  expect(await Promise.all([...all, fourth])).toEqual(['a!', 'b!', 'c!', 'd!']);
});

test('a batch that throws, or answers too few, fails its own items alone', async () => {
  const { batcher, inProcess } = manual();
  const first = batcher.submit('a');
  const second = batcher.submit('b');
  inProcess[0]?.fail(new Error('defect'));
  expect(await first).toBe('failed');
  inProcess[1]?.end([]);
  expect(await second).toBe('failed');
  await batcher.idle();
});

test('batches that items share start at least the interval apart, and a client alone is not delayed', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { batcher, inProcess } = manual({ intervalMs: 10 });
  const first = batcher.submit('a');
  expect(inProcess.map(({ batch }) => batch)).toEqual([['a']]);
  inProcess[0]?.end();
  await first;

  const again = batcher.submit('a');
  expect(inProcess.map(({ batch }) => batch)).toEqual([['a'], ['a']]);
  const others = [batcher.submit('b'), batcher.submit('c')];
  inProcess[1]?.end();
  await again;
  await vi.advanceTimersByTimeAsync(9);
  expect(inProcess).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(inProcess[2]?.batch).toEqual(['b', 'c']);
  inProcess[2]?.end();
  await Promise.all(others);

  // After a batch that was shared, another item is likely to come: it is waited for.
  void batcher.submit('d');
  expect(inProcess).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(10);
  expect(inProcess[3]?.batch).toEqual(['d']);
});
