import { mongoLedger } from '@plant-store/audit/mongo/mongo-ledger';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import type { SearchEntry } from '@plant-store/search/search-entry';
import type { System } from '../system/system.ts';

/** How jobs may lie in the queue; completed ones are removed at once. */
const JOB_STATES = ['waiting', 'active', 'delayed', 'prioritized', 'waiting-children', 'failed'] as const;

/** Everything that the product holds, read once after all has become quiet. */
export type State = {
  plants: ReadonlyMap<bigint, PlantDocument>;
  index: ReadonlyMap<bigint, SearchEntry>;
  /** How often each plant's creation is in the audit log. */
  audited: ReadonlyMap<bigint, number>;
  /** Jobs by state, without the states that no job is in. */
  jobs: Readonly<Record<string, number>>;
  /** Ids and reasons of the failed jobs. */
  failed: readonly { id: string; reason: string }[];
};

export async function readState({ db, queue }: System): Promise<State> {
  const majority = { readConcern: { level: 'majority' } } as const;
  const plants = await db.collection<PlantDocument>('plants', majority).find().toArray();
  const index = await db.collection<SearchEntry>('plant_search', majority).find().toArray();
  const audited = new Map<bigint, number>();
  const ledger = mongoLedger(db);
  for (const chain of await ledger.chains()) {
    for await (const { entries } of ledger.blocks(chain, 0)) {
      for (const { plant } of entries as { plant?: bigint }[]) {
        if (plant !== undefined) audited.set(plant, (audited.get(plant) ?? 0) + 1);
      }
    }
  }
  const failed = await queue.getFailed();
  return {
    plants: new Map(plants.map((plant) => [plant._id, plant])),
    index: new Map(index.map((entry) => [entry._id, entry])),
    audited,
    jobs: await readJobs(queue),
    failed: failed.map(({ id = '', failedReason }) => ({ id, reason: failedReason })),
  };
}

/** Jobs of all states together. */
export const jobCount = (jobs: State['jobs']) => Object.values(jobs).reduce((sum, each) => sum + each, 0);

export async function readJobs(queue: System['queue']): Promise<Record<string, number>> {
  const counts = await queue.getJobCounts(...JOB_STATES);
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
