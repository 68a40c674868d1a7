/**
 * Turns concurrent submissions into few runs, as group commit does in databases (DeWitt et al., "Implementation
 * Techniques for Main Memory Database Systems", 1984), without a timer: a run starts at once with whatever waits, and
 * what arrives while it is in flight forms the next one. Alone, a submission pays nothing for it.
 */
export type Batcher<Item, Result> = {
  submit: (item: Item) => Promise<Result>;
  /** Submissions waiting for a run to begin. */
  waiting: () => number;
  /** Resolves when nothing waits and nothing is in flight. */
  idle: () => Promise<void>;
};

export type BatcherOptions<Item, Result> = {
  /** Answers every item of a batch, in order. It must settle within a bounded time. */
  run: (batch: readonly Item[]) => Promise<readonly Result[]>;
  /** The answer for an item that was given up before any run began with it. */
  refused: () => Result;
  /** The answer for each item of a run that threw, which only a defect does. */
  failed: (error: unknown) => Result;
  /** Items with equal keys never share a batch; the later one waits for the next. */
  keyOf: (item: Item) => unknown;
  sizeOf: (item: Item) => number;
  batchItemsMax: number;
  batchBytesMax: number;
  waitingItemsMax: number;
  waitingBytesMax: number;
  /** How long an item waits for a run to begin before it is refused. */
  waitMsMax: number;
  /** After this long in flight, a run no longer holds back the next one. */
  patienceMs: number;
  /** Runs in flight at once, the slow ones among them. */
  runsMax: number;
};

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
    if (inFlight > slow || inFlight >= options.runsMax) {
      if (expiry === undefined) expiry = setTimeout(refuseExpired, options.waitMsMax).unref();
      return;
    }
    void fly(takeBatch());
  }

  function takeBatch(): Entry<Item, Result>[] {
    const batch: Entry<Item, Result>[] = [];
    const later: Entry<Item, Result>[] = [];
    const keys = new Set<unknown>();
    let bytes = 0;
    for (let index = 0; index < waiting.length; index++) {
      const entry = waiting[index] as Entry<Item, Result>;
      const full =
        batch.length >= options.batchItemsMax ||
        (batch.length > 0 && bytes + entry.bytes > options.batchBytesMax);
      if (full) {
        later.push(...waiting.slice(index));
        break;
      }
      const key = options.keyOf(entry.item);
      if (keys.has(key)) {
        later.push(entry);
        continue;
      }
      keys.add(key);
      batch.push(entry);
      bytes += entry.bytes;
    }
    waiting = later;
    waitingBytes -= bytes;
    return batch;
  }

  async function fly(batch: Entry<Item, Result>[]): Promise<void> {
    inFlight++;
    let isSlow = false;
    const patience = setTimeout(() => {
      isSlow = true;
      slow++;
      startNext();
    }, options.patienceMs);

    try {
      const results = await options.run(batch.map((entry) => entry.item));
      if (results.length !== batch.length)
        throw new Error(`a run answered ${results.length} of ${batch.length} items`);
      for (const [index, entry] of batch.entries()) entry.resolve(results[index] as Result);
    } catch (error) {
      for (const entry of batch) entry.resolve(options.failed(error));
    }

    clearTimeout(patience);
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
    idle: () =>
      inFlight === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => onIdle.push(resolve)),
  };
}
