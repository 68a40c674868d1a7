import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { creationJobId } from '../../../packages/contracts/src/creation-job.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { failWaitingJob, loseData, untilNoJobIsLeft } from '../queue-states.ts';
import { pendingPlant, type StoredCommit, storeCommit } from '../stored-plants.ts';
import { workerUnderTest } from '../worker-under-test.ts';

/** A job that names several commits is lost, fails and is repeated as their own jobs would be, at the same moment. */
const system = workerUnderTest();
const { database, plants, publishTogether, queue, start } = system;
const jobsOnly = { RELAY_AGE_MS: '30000' };

const storeCommits = (commits: number) =>
  Promise.all(Array.from({ length: commits }, () => storeCommit(plants, 3)));
const named = (commits: readonly StoredCommit[]) => commits.map(({ commit }) => ({ commit, plants: 3 }));

test('one job has the plants of all its commits indexed and audited exactly once, and is gone', async () => {
  const commits = await storeCommits(64);
  await publishTogether(named(commits));
  const worker = await start(jobsOnly);
  await untilProcessed(database);
  await expectProcessed(database);
  await untilNoJobIsLeft(system);
  expect(await worker.metric('plants_jobs_total', 'outcome="done"')).toBe(1);
  expect(await worker.metric('plants_batch_commits_sum')).toBe(64);
});

test('lost together: commits whose shared job Redis lost are published again', async () => {
  await publishTogether(named(await storeCommits(10)));
  await queue.obliterate({ force: true });
  await start();
  await untilProcessed(database);
  await expectProcessed(database);
  await untilNoJobIsLeft(system);
});

test('lost in part: of a shared job whose data Redis evicted, the id is enough for one commit, and the relay publishes the others', async () => {
  const commits = await storeCommits(10);
  await publishTogether(named(commits));
  const [first] = commits as [StoredCommit];
  await loseData(system, creationJobId(first.commit));
  await start(jobsOnly);
  await untilNoJobIsLeft(system);
  expect(await plants.distinct('commit', { pending: { $exists: false } })).toEqual([
    new ObjectId(first.commit),
  ]);

  const worker = await start();
  await untilProcessed(database);
  await expectProcessed(database);
  await untilNoJobIsLeft(system);
  // One that it sees pending before a majority has its clear is published once more, which does no harm.
  expect(await worker.metric('plants_relay_published_total')).toBeGreaterThanOrEqual(9);
});

test('failed together: each commit gets a job of its own, and all are done', async () => {
  await publishTogether(named(await storeCommits(10)));
  await failWaitingJob(system);
  const worker = await start({ RELAY_AGE_MS: '1000' });
  await untilProcessed(database);
  await expectProcessed(database);
  await untilNoJobIsLeft(system);
  expect(await worker.metric('plants_relay_retried_total')).toBe(1);
});

test('failed together with nothing pending: nothing stays on the queue', async () => {
  await publishTogether(['a', 'b', 'c'].map((digit) => ({ commit: digit.repeat(24), plants: 3 })));
  await failWaitingJob(system);
  await start();
  await untilNoJobIsLeft(system);
});

test('repeated together: shared jobs that overlap, taken by three workers at once, end as one would', async () => {
  await Promise.all([start(), start(), start()]);
  for (let round = 0; round < 3; round++) {
    const commits = await storeCommits(30);
    for (const share of [30, 7, 11, 1]) {
      for (let first = 0; first < commits.length; first += share)
        await publishTogether(named(commits.slice(first, first + share).toReversed()));
    }
  }
  await untilProcessed(database);
  await expectProcessed(database);
  await untilNoJobIsLeft(system);
});

test('ids: a shared job that is ignored because its id is taken delays the commits it named, and loses none', async () => {
  const commits = await storeCommits(6);
  const [first] = commits as [StoredCommit];
  await publishTogether(named([first]));
  await publishTogether(named(commits));
  expect(await queue.getWaitingCount()).toBe(1);
  await start();
  await untilProcessed(database);
  await expectProcessed(database);
  await untilNoJobIsLeft(system);
});

test('a poison plant fails the shared job, but delays only its own commit: the others are processed, also later', async () => {
  const commits = await storeCommits(10);
  const poison = commits[4]?.plants[1]?._id as bigint;
  const but = [poison];
  await plants.updateOne({ _id: poison }, { $set: { name: 5 as never } });
  await publishTogether(named(commits));
  await start({ RELAY_AGE_MS: '1000' });
  await untilProcessed(database, { but });
  await expectProcessed(database, { but });

  const own = creationJobId(commits[4]?.commit as string);
  await waitFor(async () => (await queue.getFailed()).map(({ id }) => id).join() === own, {
    withinMs: 15_000,
    what: 'the job of its own commit is the only one that failed',
  });
  expect((await queue.getJob(own))?.failedReason).toContain(`plant ${poison}: name must be a string`);

  // The job's id named the first commit: a member that lands late does not wait for the poison plant's next retry.
  await plants.insertOne(pendingPlant(new ObjectId(commits[0]?.commit)), { writeConcern: { w: 'majority' } });
  await untilProcessed(database, { but });
  await expectProcessed(database, { but });
});
