import { freePort } from '@plant-store/local/servers/free-port';
import { MongoClient } from 'mongodb';
import { afterAll, expect, test } from 'vitest';
import { startReplica } from '../harness/api/api.ts';
import { freshId, postPlant } from '../harness/api/post-plant.ts';
import { readMetric } from '../harness/processes/program.ts';
import { testDatabase, testEnvironment, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../worker/processed.ts';
import { openSystem } from '../worker/worker-under-test.ts';

const CREATES = 300;
const AT_ONCE = 20;

const database = testDatabase();
const queue = testQueue();
const environment = testEnvironment({ mongodbUrl: database.url, queue });
const mongo = new MongoClient(database.url, { useBigInt64: true });
afterAll(() => mongo.close());

test('Redis is lost for good: creates go on, and a worker on a new, empty one processes all of them (L3, E4)', async () => {
  const nowhere = `redis://127.0.0.1:${await freePort()}`;
  await using replica = await startReplica({ ...environment, REDIS_URL: nowhere });
  for (let created = 0; created < CREATES; created += AT_ONCE) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => postPlant(replica.url, { id: freshId(), name: 'fern' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  const plants = mongo.db().collection('plants');
  expect(await plants.countDocuments({ pending: true })).toBe(CREATES);
  await waitFor(async () => (await publications(replica.internalUrl, 'left_to_relay')) > 0, {
    withinMs: 5_000,
    what: 'its commits are left to the relay',
  });
  expect(await publications(replica.internalUrl, 'published')).toBe(0);

  await using system = openSystem(database.url, queue.url, queue.prefix);
  await system.start();
  await untilProcessed(system.database);
  await expectProcessed(system.database);
});

const publications = (internalUrl: string, result: string) =>
  readMetric(internalUrl, 'plants_publications_total', `result="${result}"`);
