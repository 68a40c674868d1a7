import { type CommitDeps, commitPlants } from './commit-plants.ts';
import type { Creation, Outcome } from './creation.ts';
import type { PlantStore, StoredPlant } from './plant-store.ts';

/** What a plant's document holds beside its own strings: field names, id, time, commit, key, the replica's name. */
const DOCUMENT_BYTES = 320;

/** One commit: mongod splits a larger insert into units of its own of about this size. */
const COMMIT_PLANTS_MAX = 500;
const COMMIT_BYTES_MAX = 256 * 1024;

/** What waits for a commit: beyond it a create is refused at once. */
const WAITING_PLANTS_MAX = 10_000;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
const WAIT_MS_MAX = 1_000;

/** A commit that hangs holds the next one back no longer than this, and no more than so many hang at once. */
const SLOW_AFTER_MS = 250;
const COMMITS_MAX = 4;

/** Together they leave a quarter of a request's time. */
const READ_WAIT_MS_MAX = 2_000;
const READ_MS_MAX = 1_000;
const READ_IDS_MAX = 2_000;

const limits = {
  batchItemsMax: COMMIT_PLANTS_MAX,
  batchBytesMax: COMMIT_BYTES_MAX,
  waitingItemsMax: WAITING_PLANTS_MAX,
  waitingBytesMax: WAITING_BYTES_MAX,
  waitMsMax: WAIT_MS_MAX,
  slowAfterMs: SLOW_AFTER_MS,
  batchesMax: COMMITS_MAX,
};

/** A defect is reported: what only a bug can cause. Whom it befell is told that the outcome is unknown. */
type OnDefect = (error: unknown) => void;

/** Group commit: concurrent creations are written by one insert. What a batcher needs to know about it. */
export function groupCommit(deps: CommitDeps, onDefect: OnDefect) {
  return {
    ...limits,
    /** No id stands twice in a commit, so (commit, id) names one operation. */
    keyOf: ({ plant }: Creation) => plant.id,
    sizeOf: documentBytes,
    process: (creations: readonly Creation[]) => commitPlants(deps, creations),
    refused: (): Outcome => 'not-stored',
    failed: (error: unknown): Outcome => {
      onDefect(error);
      return 'unknown';
    },
  };
}

export type Reading = StoredPlant | 'absent' | 'unreadable';

/** The same for reads of plants that are probably there. Any number of creations may ask for one plant. */
export function groupRead(deps: { store: PlantStore; now: () => number }, onDefect: OnDefect) {
  return {
    ...limits,
    batchItemsMax: READ_IDS_MAX,
    batchBytesMax: Number.POSITIVE_INFINITY,
    waitMsMax: READ_WAIT_MS_MAX,
    sizeOf: documentBytes,
    process: async (creations: readonly Creation[]): Promise<Reading[]> => {
      const ids = new Set(creations.map(({ plant }) => plant.id));
      const deadline = Math.min(...creations.map(({ deadline }) => deadline));
      const found = await deps.store.read([...ids], Math.min(READ_MS_MAX, (deadline - deps.now()) / 2));
      if (found === undefined) return creations.map(() => 'unreadable');
      return creations.map(({ plant }) => found.get(plant.id) ?? 'absent');
    },
    refused: (): Reading => 'unreadable',
    failed: (error: unknown): Reading => {
      onDefect(error);
      return 'unreadable';
    },
  };
}

/** What a plant costs a commit: no less than its document holds, whatever was sent with it. */
export function documentBytes({ plant, principal, origin }: Creation): number {
  return (
    DOCUMENT_BYTES +
    Buffer.byteLength(plant.name) +
    bytesOf(plant.tag) +
    Buffer.byteLength(principal.subject) +
    bytesOf(principal.issuer) +
    bytesOf(principal.tokenId) +
    origin.address.length +
    origin.request.length
  );
}

function bytesOf(text: string | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text);
}
