/**
 * Turns concurrent submissions into few batches, as group commit does in databases (DeWitt et al., "Implementation
 * Techniques for Main Memory Database Systems", 1984), without a timer: a batch starts at once with the items that
 * wait, and items that arrive while it is in flight form the next one. A single submission is not delayed. A full batch
 * would not grow by waiting, so it starts beside one in flight (double buffering). Otherwise the receiver would be idle
 * until a busy event loop has read its answer.
 */
export type Batcher<Item, Result> = {
  submit: (item: Item) => Promise<Result>;
  /** Submissions that wait for their batch to start. */
  waiting: () => number;
  /** Whether what waits fills a batch, by items or by bytes. */
  hasFullBatch: () => boolean;
  /** For how long the oldest of them has waited. */
  waitedMs: () => number;
  /** Resolves when nothing waits and nothing is in flight. */
  idle: () => Promise<void>;
};

export type BatcherOptions<Item, Result> = {
  /** Answers every item of a batch, in order. It must resolve within a bounded time. */
  process: (batch: readonly Item[]) => Promise<readonly Result[]>;
  /** The answer for an item that was refused before its batch started. */
  refused: () => Result;
  /** The answer for each item of a batch whose processing threw an error, which only a defect can cause. */
  failed: (error: unknown) => Result;
  /** Items with equal keys never share a batch; the later one waits for the next. Without `keyOf` any items may. */
  keyOf?: (item: Item) => unknown;
  sizeOf: (item: Item) => number;
  batchItemsMax: number;
  batchBytesMax: number;
  waitingItemsMax: number;
  waitingBytesMax: number;
  /** How long an item waits for its batch to start before it is refused. */
  waitMsMax: number;
  /** A batch that has been in flight for so long no longer holds back the next one. */
  slowAfterMs: number;
  /** Batches in flight at once, the slow ones among them. */
  batchesMax: number;
  /**
   * Shortest time between the starts of two batches, in milliseconds, so that more items share one; 0 by default. An
   * item that waits alone after a batch of one item is not delayed: there is nothing to share.
   */
  intervalMs?: number;
};

/** A full batch starts while fewer than so many are in flight, any other only while none is; slow ones are not counted. */
const FULL_BATCHES_MAX = 2;

type Entry<Item, Result> = {
  item: Item;
  bytes: number;
  since: number;
  resolve: (result: Result) => void;
};

export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  let waiting: Entry<Item, Result>[] = [];
  let waitingBytes = 0;
  let inFlight = 0;
  let slow = 0;
  let expiry: NodeJS.Timeout | undefined;
  const { intervalMs = 0 } = options;
  let earliestStart = 0;
  /** Items of the batch that started last. */
  let lastItems = 0;
  let startIsDue = false;
  const onIdle: (() => void)[] = [];

  function submit(item: Item): Promise<Result> {
    const bytes = options.sizeOf(item);
    if (waiting.length >= options.waitingItemsMax || waitingBytes + bytes > options.waitingBytesMax) {
      return Promise.resolve(options.refused());
    }
    return new Promise((resolve) => {
      waiting.push({ item, bytes, since: performance.now(), resolve });
      waitingBytes += bytes;
      startNext();
    });
  }

  function startNext(): void {
    if (waiting.length === 0) return;
    const most = hasFullBatch() ? FULL_BATCHES_MAX : 1;
    if (inFlight - slow >= most || inFlight >= options.batchesMax) {
      if (expiry === undefined) expiry = setTimeout(refuseExpired, options.waitMsMax).unref();
      return;
    }
    if (intervalMs > 0) {
      const now = performance.now();
      if (now < earliestStart && (waiting.length > 1 || lastItems > 1)) {
        if (!startIsDue) setTimeout(startWhenDue, earliestStart - now);
        startIsDue = true;
        return;
      }
      earliestStart = now + intervalMs;
    }
    const batch = takeBatch();
    lastItems = batch.length;
    void processBatch(batch);
  }

  function hasFullBatch(): boolean {
    return waiting.length >= options.batchItemsMax || waitingBytes >= options.batchBytesMax;
  }

  function startWhenDue(): void {
    startIsDue = false;
    startNext();
  }

  function takeBatch(): Entry<Item, Result>[] {
    const batch: Entry<Item, Result>[] = [];
    const later: Entry<Item, Result>[] = [];
    const keys = new Set<unknown>();
    let bytes = 0;
    let index = 0;
    for (; index < waiting.length && batch.length < options.batchItemsMax; index++) {
      const entry = waiting[index] as Entry<Item, Result>;
      if (batch.length > 0 && bytes + entry.bytes > options.batchBytesMax) break;
      if (options.keyOf !== undefined) {
        const key = options.keyOf(entry.item);
        if (keys.has(key)) {
          later.push(entry);
          continue;
        }
        keys.add(key);
      }
      batch.push(entry);
      bytes += entry.bytes;
    }
    waiting = index < waiting.length ? later.concat(waiting.slice(index)) : later;
    waitingBytes -= bytes;
    return batch;
  }

  async function processBatch(batch: Entry<Item, Result>[]): Promise<void> {
    inFlight++;
    let isSlow = false;
    const slowTimer = setTimeout(() => {
      isSlow = true;
      slow++;
      startNext();
    }, options.slowAfterMs);

    try {
      const results = await options.process(batch.map((entry) => entry.item));
      if (results.length !== batch.length)
        throw new Error(`${results.length} of ${batch.length} items of a batch were answered`);
      for (let index = 0; index < batch.length; index++) batch[index]?.resolve(results[index] as Result);
    } catch (error) {
      for (const entry of batch) entry.resolve(options.failed(error));
    }

    clearTimeout(slowTimer);
    inFlight--;
    if (isSlow) slow--;
    startNext();
    if (inFlight === 0 && waiting.length === 0) {
      for (const resolve of onIdle.splice(0)) resolve();
    }
  }

  function refuseExpired(): void {
    expiry = undefined;
    const oldest = performance.now() - options.waitMsMax;
    const kept: Entry<Item, Result>[] = [];
    for (const entry of waiting) {
      if (entry.since > oldest) {
        kept.push(entry);
        continue;
      }
      waitingBytes -= entry.bytes;
      entry.resolve(options.refused());
    }
    waiting = kept;
    const next = waiting[0];
    if (next !== undefined) expiry = setTimeout(refuseExpired, Math.max(1, next.since - oldest)).unref();
  }

  return {
    submit,
    waiting: () => waiting.length,
    hasFullBatch,
    waitedMs: () => (waiting[0] === undefined ? 0 : performance.now() - waiting[0].since),
    idle: () =>
      inFlight === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => onIdle.push(resolve)),
  };
}
