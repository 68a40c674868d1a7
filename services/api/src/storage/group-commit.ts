import { type Batcher, createBatcher } from '@plant-store/platform/batcher';
import { type CommitDeps, commitPlants } from '../domain/commit-plants.ts';
import type { Creation, Outcome, PlantStore, StoredPlant } from '../domain/create-plant.ts';

/** What a plant costs beside its strings: id, times, commit, origin. */
const PLANT_BYTES = 250;

/** One commit: mongod splits a larger insert into units of its own of about this size. */
const COMMIT_PLANTS_MAX = 500;
const COMMIT_BYTES_MAX = 256 * 1024;

/** What waits for a commit: beyond it a create is refused at once. */
const WAITING_PLANTS_MAX = 10_000;
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
const WAIT_MS_MAX = 1_000;

/** A commit that hangs holds the next one back no longer than this, and no more than so many hang at once. */
const PATIENCE_MS = 250;
const COMMITS_MAX = 4;

/** Waiting half the time of an insert, a settling read has the rest of the request's budget. */
const READ_MS_MAX = 1_000;

const bounds = {
  keyOf: ({ plant }: Creation) => plant.id,
  batchItemsMax: COMMIT_PLANTS_MAX,
  batchBytesMax: COMMIT_BYTES_MAX,
  waitingItemsMax: WAITING_PLANTS_MAX,
  waitingBytesMax: WAITING_BYTES_MAX,
  waitMsMax: WAIT_MS_MAX,
  patienceMs: PATIENCE_MS,
  runsMax: COMMITS_MAX,
};

/** Writes concurrent creations together. `onDefect` hears of what only a bug can cause; its callers get `unknown`. */
export function groupCommit(
  deps: CommitDeps,
  onDefect: (error: unknown) => void,
): Batcher<Creation, Outcome> {
  return createBatcher<Creation, Outcome>({
    ...bounds,
    sizeOf: ({ plant }) => PLANT_BYTES + Buffer.byteLength(plant.name) + Buffer.byteLength(plant.tag ?? ''),
    run: (creations) => commitPlants(deps, creations),
    refused: () => 'not-stored',
    failed: (error) => {
      onDefect(error);
      return 'unknown';
    },
  });
}

/** Reads plants that are probably there, together, for creations whose id was seen before. */
export function groupRead(
  store: PlantStore,
  now: () => number,
): Batcher<Creation, StoredPlant | 'absent' | 'unreadable'> {
  return createBatcher<Creation, StoredPlant | 'absent' | 'unreadable'>({
    ...bounds,
    sizeOf: () => PLANT_BYTES,
    run: async (creations) => {
      const due = Math.min(...creations.map(({ deadline }) => deadline));
      const found = await store.read(
        creations.map(({ plant }) => plant.id),
        Math.min(READ_MS_MAX, (due - now()) / 2),
      );
      return creations.map(({ plant }) =>
        found === undefined ? 'unreadable' : (found.get(plant.id) ?? 'absent'),
      );
    },
    refused: () => 'unreadable',
    failed: () => 'unreadable',
  });
}
