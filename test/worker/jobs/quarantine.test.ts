import { expect, test } from 'vitest';
import { creationJobId } from '../../../packages/contracts/src/creation-job.ts';
import { createMongoClient } from '../../../packages/platform/src/mongo/mongo.ts';
import { processCommits } from '../../../services/worker/src/jobs/process-commits.ts';
import { createIndexes } from '../../harness/servers/create-indexes.ts';
import { longTimeouts } from '../../harness/servers/long-timeouts.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { processing } from '../batch-parts.ts';
import { untilProcessed } from '../processed.ts';
import { untilNoJobIsLeft } from '../queue-states.ts';
import { storeCommit } from '../stored-plants.ts';
import { workerUnderTest } from '../worker-under-test.ts';

const system = workerUnderTest();
const { database, environment, plants, publish, queue, start } = system;
const quarantine = { reason: 'no name', by: 'olga', since: new Date() };

test('a quarantined plant is met by neither relay nor worker; taken back, it is processed', async () => {
  const { commit, plants: stored } = await storeCommit(plants, 3);
  const [poison] = stored.map(({ _id }) => _id) as [bigint];
  await plants.updateOne({ _id: poison }, { $set: { name: 5 as never } });
  await publish(commit, 3);
  const worker = await start();
  await waitFor(async () => (await queue.getFailedCount()) === 1, {
    withinMs: 10_000,
    what: 'the job failed',
  });

  await plants.updateOne({ _id: poison }, { $set: { pending: 'quarantined', quarantine } });
  await (await queue.getJob(creationJobId(commit)))?.retry('failed').catch(() => {});
  await untilNoJobIsLeft(system);
  await waitFor(async () => (await worker.metric('plants_relay_pending')) === 0, {
    withinMs: 10_000,
    what: 'the relay sees nothing pending',
  });
  await publish(commit, 3);
  await untilNoJobIsLeft(system);
  expect(await plants.findOne({ _id: poison })).toMatchObject({ pending: 'quarantined', quarantine });
  expect(await database.collection('plant_search').countDocuments()).toBe(2);

  await plants.updateOne(
    { _id: poison },
    { $set: { name: 'mended', pending: true }, $unset: { quarantine: '' } },
  );
  await untilProcessed(database);
  await untilNoJobIsLeft(system);
  expect(await database.collection('plant_search').findOne({ _id: poison as never })).toMatchObject({
    name: 'mended',
  });
});

test('a plant that is quarantined while a batch has it stays quarantined', async () => {
  const client = createMongoClient(environment['MONGODB_URL'] as string, 'quarantine-test', longTimeouts);
  try {
    await createIndexes(client.db(database.databaseName));
    const { commit, plants: stored } = await storeCommit(plants, 2);
    const [first] = stored.map(({ _id }) => _id) as [bigint];
    const steps = processing(client, database.databaseName);
    const audit: typeof steps.audit = async (entries) => {
      const rejected = await steps.audit(entries);
      await plants.updateOne({ _id: first }, { $set: { pending: 'quarantined', quarantine } });
      return rejected;
    };
    await processCommits({ ...steps, audit }, [commit], 100);
    expect(await plants.findOne({ _id: first })).toMatchObject({ pending: 'quarantined' });
    expect(await plants.countDocuments({ pending: { $exists: false } })).toBe(1);
  } finally {
    await client.close();
  }
});
