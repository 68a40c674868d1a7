import { setTimeout as pause } from 'node:timers/promises';
import {
  type Anchor,
  type AnchoredHead,
  canonicalAnchor,
  makeAnchor,
  type SigningKey,
} from '../ledger/anchor.ts';

/** How often a worker looks, at most, whether an anchor is due: another's crash delays the next by no more. */
const LOOK_MS_MAX = 5_000;
/** An anchor that its maker has not emitted by then is emitted by whoever sees it. */
const TAKEN_OVER_MS = 15_000;

/** The stored anchors and what they are made of; everything is read by majority. */
export type AnchorStore = {
  last: () => Promise<Anchor | undefined>;
  /** All chain heads now; the entries are counted from those of the last anchor on. */
  heads: (since: readonly AnchoredHead[]) => Promise<AnchoredHead[]>;
  /** Of anchored heads, those whose block is not there as it was. */
  changed: (heads: readonly AnchoredHead[]) => Promise<AnchoredHead[]>;
  /** Whether it was stored; not when another worker has stored one with its sequence number. */
  add: (anchor: Anchor) => Promise<boolean>;
  notEmitted: () => Promise<Anchor[]>;
  emitted: (sequence: number) => Promise<void>;
};

export type AnchoringDeps = {
  store: AnchorStore;
  key: SigningKey;
  intervalMs: number;
  /** Takes an anchor out of the database, as one line; absent where operators want none. */
  emit: ((line: string) => Promise<void>) | undefined;
  now: () => Date;
  /** Monotonic milliseconds. */
  monotonicMs: () => number;
  random: () => number;
  on: {
    /** The age of the newest anchor, at each look. */
    looked: (ageMs: number) => void;
    made: (anchor: Anchor) => void;
    changed: (head: AnchoredHead) => void;
    failed: (error: unknown) => void;
    works: () => void;
  };
};

/**
 * Makes an anchor each interval, also in silence, until it is stopped. Every worker does: the sequence number is unique,
 * so one of them succeeds and the others see its anchor. It is stored first and emitted then; what a crash in between
 * left, or a full disk, is emitted later, so a line may come twice and none is missing.
 */
export function keepAnchoring(deps: AnchoringDeps): { close: () => Promise<void> } {
  const stop = new AbortController();
  const lookMs = Math.min(LOOK_MS_MAX, deps.intervalMs / 4);
  const ageOf = createAges(deps);

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await anchorIfDue(deps, ageOf);
        await emitLeft(deps);
        deps.on.works();
      } catch (error) {
        deps.on.failed(error);
      }
      await pause(lookMs * (1 + deps.random() / 4), undefined, { signal: stop.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    close: async () => {
      stop.abort();
      await running;
    },
  };
}

async function anchorIfDue(deps: AnchoringDeps, ageOf: (anchor: Anchor) => number): Promise<void> {
  const { store, key, intervalMs, now, on } = deps;
  const last = await store.last();
  if (last !== undefined) {
    const ageMs = ageOf(last);
    on.looked(ageMs);
    if (ageMs < intervalMs) return;
  }
  // A chain that was cut or rewritten is anchored as it is: the earlier anchors remain, and tell.
  for (const head of await store.changed(last?.heads ?? [])) on.changed(head);
  const anchor = makeAnchor(last, await store.heads(last?.heads ?? []), now(), key);
  if (!(await store.add(anchor))) return;
  on.made(anchor);
  on.looked(0);
  await emitOne(deps, anchor);
}

async function emitLeft(deps: AnchoringDeps): Promise<void> {
  if (deps.emit === undefined) return;
  for (const anchor of await deps.store.notEmitted()) {
    const ageMs = Math.abs(deps.now().getTime() - Date.parse(anchor.time));
    if (ageMs >= TAKEN_OVER_MS) await emitOne(deps, anchor);
  }
}

async function emitOne({ emit, store }: AnchoringDeps, anchor: Anchor): Promise<void> {
  if (emit === undefined) return;
  await emit(canonicalAnchor(anchor));
  await store.emitted(anchor.sequence);
}

/** How old an anchor is: by its time, or, where that lies ahead of this clock, since this worker saw it first. */
function createAges({ now, monotonicMs }: AnchoringDeps): (anchor: Anchor) => number {
  let seen = { sequence: 0, atMs: 0 };
  return ({ sequence, time }) => {
    if (seen.sequence !== sequence) seen = { sequence, atMs: monotonicMs() };
    const ageMs = now().getTime() - Date.parse(time);
    return ageMs >= 0 ? ageMs : monotonicMs() - seen.atMs;
  };
}
