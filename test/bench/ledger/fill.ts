import { setTimeout as pause } from 'node:timers/promises';
import { createMongoClient } from '@plant-store/platform/mongo/mongo';
import { producerConnection } from '@plant-store/platform/redis/redis';
import { Redis } from 'ioredis';
import { ObjectId } from 'mongodb';
import { creationPublisher } from '../../../services/api/src/queue/creation-publisher.ts';
import { mongoPlants } from '../../../services/api/src/storage/mongo-plants.ts';
import { ourBooks } from '../systems/books.ts';
import { type Ground, QUEUE_PREFIX } from '../systems/ground.ts';
import { COMMIT_PLANTS, creationOf } from './content.ts';

const INSERT_MS_MAX = 10_000;
/** Plants stored ahead of the worker: enough that it never waits. */
const AHEAD_MAX = 20_000;
const POLL_MS = 20;

/**
 * Stores plants as an API replica does (its commits, its jobs, without HTTP), from one number to another, while a worker
 * runs. Returns once the worker has indexed and audited all of them.
 */
export async function fill(ground: Ground, from: number, to: number): Promise<void> {
  const client = createMongoClient(ground.environment.MONGODB_URL, 'bench', { socketTimeoutMS: 30_000 });
  await client.connect();
  const redis = new Redis(ground.environment.REDIS_URL, { ...producerConnection, enableOfflineQueue: true });
  await redis.ping();
  const silent = () => {};
  const on = { published: silent, leftToRelay: silent, queueError: silent };
  const publisher = creationPublisher(redis, QUEUE_PREFIX, on);
  const database = client.db().databaseName;
  const store = mongoPlants({
    client,
    database,
    instance: 'bench',
    onInserted: silent,
    onReadFailed: silent,
  });
  try {
    for (let start = from; start < to; start += COMMIT_PLANTS) {
      const plants = Math.min(COMMIT_PLANTS, to - start);
      const creations = Array.from({ length: plants }, (_, place) => creationOf(start + place));
      const commit = { id: new ObjectId().toHexString(), created: new Date() };
      const report = await store.insert(commit, creations, INSERT_MS_MAX);
      if (!report.sent || report.occupied === 'unknown') throw new Error(`a commit failed: ${report.reason}`);
      publisher.publish(commit.id, plants, undefined);
      if (start % AHEAD_MAX === 0) await untilIndexed(ground, start - AHEAD_MAX);
    }
    await publisher.close();
  } finally {
    redis.disconnect();
    await client.close();
  }
  while (await ourBooks.isPending(ground.database)) await pause(POLL_MS);
}

async function untilIndexed({ database }: Ground, plants: number): Promise<void> {
  while ((await database.collection('plant_search').estimatedDocumentCount()) < plants) await pause(POLL_MS);
}
