import { CREATIONS_QUEUE, creationJob } from '@plant-store/contracts/creation-job';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type Db, ObjectId } from 'mongodb';

/**
 * Has workers index and audit the plants once more: sets their pending flags, by id and commit, and publishes their
 * commits. Without a connection to Redis, the relay publishes them some seconds later.
 */
export async function publishAgain(
  database: Db,
  redis: Redis | undefined,
  queuePrefix: string,
  plants: readonly { plant: bigint; commit: string }[],
): Promise<void> {
  const byCommit = Map.groupBy(plants, ({ commit }) => commit);
  for (const [commit, members] of byCommit) {
    await database.collection<PlantDocument>(PLANTS).updateMany(
      {
        _id: { $in: members.map(({ plant }) => plant) },
        commit: new ObjectId(commit),
        pending: { $exists: false },
      },
      { $set: { pending: true } },
      { writeConcern: { w: 'majority', journal: true, wtimeoutMS: 30_000 } },
    );
  }
  if (redis === undefined) return;
  const queue = new Queue(CREATIONS_QUEUE, {
    connection: redis,
    prefix: queuePrefix,
    skipVersionCheck: true,
  });
  try {
    for (const [commit, members] of byCommit) {
      const { name, data, opts } = creationJob([{ commit, plants: members.length }]);
      await queue.add(name, data, opts);
    }
  } finally {
    await queue.close();
  }
}
