import { type CommitDeps, commitPlants } from './commit-plants.ts';
import type { Creation, Outcome } from './creation.ts';
import type { PlantStore, Stored } from './plant-store.ts';

/** Size of a plant's document without the client's strings: field names, id, time, commit, key, the replica's name. */
const DOCUMENT_BYTES = 320;

/** Limits of one commit: mongod splits a larger insert into batches of about this size. */
export const COMMIT_PLANTS_MAX = 500;
const COMMIT_BYTES_MAX = 256 * 1024;

/** Limits of the creates that wait for a commit: further ones are refused at once. */
export const WAITING_PLANTS_MAX = 10_000;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
const WAIT_MS_MAX = 1_000;

/** After this time a slow commit no longer holds back the next one; at most so many are in flight at once. */
const SLOW_AFTER_MS = 250;
const COMMITS_MAX = 4;

/** Waiting and reading together take at most three quarters of a create's deadline. */
const READ_WAIT_MS_MAX = 2_000;
const READ_MS_MAX = 1_000;
const READ_IDS_MAX = 2_000;
/** A read costs the API as much CPU as storing ten plants, so reads of many repeated ids are shared; one client alone waits for none. */
const READ_INTERVAL_MS = 10;

const limits = {
  batchItemsMax: COMMIT_PLANTS_MAX,
  batchBytesMax: COMMIT_BYTES_MAX,
  waitingItemsMax: WAITING_PLANTS_MAX,
  waitingBytesMax: WAITING_BYTES_MAX,
  waitMsMax: WAIT_MS_MAX,
  slowAfterMs: SLOW_AFTER_MS,
  batchesMax: COMMITS_MAX,
};

/** Called with an error that only a bug can cause. The creates it affects get the outcome `unknown`. */
type OnDefect = (error: unknown) => void;

/** Batcher options for the group commit, which stores concurrent creations by one insert. */
export function groupCommit(deps: CommitDeps, onDefect: OnDefect) {
  return {
    ...limits,
    /** No id occurs twice in a commit, so (commit, id) identifies one operation. */
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

export type Reading = Stored | 'absent' | 'unreadable';

/** Batcher options for reads of plants that are probably stored. Several creations may ask for the same plant. */
export function groupRead(deps: { store: PlantStore; now: () => number }, onDefect: OnDefect) {
  return {
    ...limits,
    batchItemsMax: READ_IDS_MAX,
    batchBytesMax: Number.POSITIVE_INFINITY,
    waitMsMax: READ_WAIT_MS_MAX,
    intervalMs: READ_INTERVAL_MS,
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

/** An upper estimate of the size of a plant's document. */
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
