import { setTimeout as pause } from 'node:timers/promises';
import {
  type Anchor,
  type AnchoredHead,
  canonicalAnchor,
  makeAnchor,
  type SigningKey,
} from '../ledger/anchor.ts';

/** The longest interval between checks for a due anchor: the crash of another worker delays an anchor by no more. */
const LOOK_MS_MAX = 5_000;
/** An anchor that is not emitted after this time is emitted by any worker. */
const TAKEN_OVER_MS = 15_000;

/** The stored anchors, and the chain heads they are made from; everything is read by majority. */
export type AnchorStore = {
  last: () => Promise<Anchor | undefined>;
  /** All current chain heads; entries are counted from the heads of the last anchor on. */
  heads: (since: readonly AnchoredHead[]) => Promise<AnchoredHead[]>;
  /** Those of the anchored heads whose block is missing or changed. */
  changed: (heads: readonly AnchoredHead[]) => Promise<AnchoredHead[]>;
  /** True when the anchor was stored; false when another worker has stored one with the same sequence number. */
  add: (anchor: Anchor) => Promise<boolean>;
  notEmitted: () => Promise<Anchor[]>;
  emitted: (sequence: number) => Promise<void>;
};

export type AnchoringDeps = {
  store: AnchorStore;
  key: SigningKey;
  intervalMs: number;
  /** Writes an anchor, as one line, to a place outside the database; undefined where this is not configured. */
  emit: ((line: string) => Promise<void>) | undefined;
  now: () => Date;
  /** Monotonic milliseconds. */
  monotonicMs: () => number;
  random: () => number;
  on: {
    made: (anchor: Anchor) => void;
    changed: (head: AnchoredHead) => void;
    failed: (error: unknown) => void;
    works: () => void;
  };
};

/**
 * Makes an anchor in each interval, even if nothing was sealed, until it is stopped. Every worker tries: the sequence
 * number is unique, so one of them succeeds and the others see its anchor. An anchor is first stored, then emitted. If
 * a crash or a full disk prevents that, it is emitted later: a line may appear twice, and none is missing.
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
  if (last !== undefined && ageOf(last) < intervalMs) return;
  // A chain that was cut or rewritten is anchored in its present state: the earlier anchors still prove the change.
  for (const head of await store.changed(last?.heads ?? [])) on.changed(head);
  const anchor = makeAnchor(last, await store.heads(last?.heads ?? []), now(), key);
  if (!(await store.add(anchor))) return;
  on.made(anchor);
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

/** The age of an anchor by its time; if that is ahead of this worker's clock, the time since it was first seen. */
function createAges({ now, monotonicMs }: AnchoringDeps): (anchor: Anchor) => number {
  let seen = { sequence: 0, atMs: 0 };
  return ({ sequence, time }) => {
    if (seen.sequence !== sequence) seen = { sequence, atMs: monotonicMs() };
    const ageMs = now().getTime() - Date.parse(time);
    return ageMs >= 0 ? ageMs : monotonicMs() - seen.atMs;
  };
}
