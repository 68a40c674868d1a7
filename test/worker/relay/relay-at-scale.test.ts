import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { creationJob } from '../../../packages/contracts/src/creation-job.ts';
import type { PlantDocument } from '../../../packages/contracts/src/plant-document.ts';
import { type PrivateServer, privateRedis } from '../../harness/servers/private-servers.ts';
import { testDatabase } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { pendingPlant, storeCommit } from '../stored-plants.ts';
import { openSystem, type WorkerSystem } from '../worker-under-test.ts';

/** More pending plants than one sweep looks at, and far more than a relay should treat one by one. */
const COMMITS = 100_000;
const POISON_COMMITS = 1_000;
const COMMITS_PER_JOB = 10;
const AT_ONCE = 5_000;
/** What E1 promises; a relay with a limit for each sweep would take minutes. */
const RECOVERED_MS_MAX = 60_000;

const target = testDatabase();
let server: PrivateServer;
let system: WorkerSystem;

beforeAll(async () => {
  server = await privateRedis();
  system = openSystem(target.url, server.url, '{relay-at-scale}');
});
afterAll(async () => {
  await system?.close();
  await server?.close();
});

async function storeCommits(count: number, fields: Partial<PlantDocument>): Promise<PlantDocument[]> {
  const stored: PlantDocument[] = [];
  while (stored.length < count) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - stored.length) }, () =>
      pendingPlant(new ObjectId(), fields),
    );
    await system.plants.insertMany(some, { ordered: false });
    stored.push(...some);
  }
  return stored;
}

async function publishAll(plants: readonly PlantDocument[]): Promise<void> {
  const commits = plants.map(({ commit }) => ({ commit: commit.toHexString(), plants: 1 }));
  for (let first = 0; first < commits.length; first += AT_ONCE) {
    const some = commits.slice(first, first + AT_ONCE);
    const jobs = Array.from({ length: some.length / COMMITS_PER_JOB }, (_, job) =>
      creationJob(some.slice(job * COMMITS_PER_JOB, (job + 1) * COMMITS_PER_JOB)),
    );
    await system.queue.addBulk(jobs);
  }
}

test(`${COMMITS} commits whose jobs Redis lost but for their hashes, behind ${POISON_COMMITS} poison ones, are processed`, async () => {
  const { database, plants, queue, redis, start } = system;
  // Poison comes first in the order of commits, so that it is met first.
  const poison = await storeCommits(POISON_COMMITS, { name: 5 as never });
  await publishAll(await storeCommits(COMMITS, {}));
  expect(await queue.getWaitingCount()).toBe(COMMITS / COMMITS_PER_JOB);
  await redis.del(queue.toKey('wait'));

  const worker = await start({ RELAY_INTERVAL_MS: '2000', RELAY_AGE_MS: '5000' });
  const but = poison.map(({ _id }) => _id);
  await untilProcessed(database, { but, withinMs: RECOVERED_MS_MAX });
  await expectProcessed(database, { but });
  expect(await worker.metric('plants_relay_orphans_removed_total')).toBe(COMMITS / COMMITS_PER_JOB);

  await waitFor(async () => (await queue.getFailedCount()) === POISON_COMMITS, {
    withinMs: 60_000,
    what: 'each poison plant has failed a job of its own',
  });
  const { commit } = await storeCommit(plants, 3);
  await untilProcessed(database, { but, withinMs: 60_000 });
  expect(await plants.countDocuments({ commit: new ObjectId(commit), pending: true })).toBe(0);
}, 600_000);
