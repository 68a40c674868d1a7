import { expect, test } from 'vitest';
import { creationJobId } from '../../../packages/contracts/src/creation-job.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { failWaitingJob, loseData, untilNoJobIsLeft } from '../queue-states.ts';
import { storeCommit } from '../stored-plants.ts';
import { workerUnderTest } from '../worker-under-test.ts';

const system = workerUnderTest();
const { database, plants, publish, queue, start } = system;

/** Stores a commit whose job failed before any code of ours had seen it. */
async function failedCommit(): Promise<string> {
  const { commit } = await storeCommit(plants, 2);
  await publish(commit, 2);
  await failWaitingJob(system);
  return commit;
}

test('failed jobs are retried and done', async () => {
  for (let jobs = 0; jobs < 3; jobs++) await failedCommit();
  const worker = await start();
  await untilProcessed(database);
  await untilNoJobIsLeft(system);
  await expectProcessed(database);
  expect(await worker.metric('plants_relay_retried_total')).toBe(3);
});

test('a failed job is retried also when no plant is pending anywhere, and completes', async () => {
  await publish('f'.repeat(24));
  await failWaitingJob(system);
  await start();
  await untilNoJobIsLeft(system);
});

test('a failed job whose data Redis evicted does not stay for ever', async () => {
  const commit = await failedCommit();
  await loseData(system, creationJobId(commit));
  await start();
  await untilProcessed(database);
  await untilNoJobIsLeft(system);
});

test('a job that goes on failing is retried soon at first, and then ever more rarely; the log tells of it once', async () => {
  const { commit } = await storeCommit(plants, 1, { name: 5 as never });
  await publish(commit);
  const worker = await start({ RELAY_AGE_MS: '100', RELAY_INTERVAL_MS: '50' });
  // When each attempt began and ended, by the worker's own clock.
  const attempts = new Map<number, { began: number; ended: number }>();
  await waitFor(
    async () => {
      const job = await queue.getJob(creationJobId(commit));
      const { attemptsMade = 0, processedOn, finishedOn } = job ?? {};
      if (processedOn && finishedOn) attempts.set(attemptsMade, { began: processedOn, ended: finishedOn });
      return attempts.has(6);
    },
    { withinMs: 30_000, what: 'it has failed six times' },
  );
  // The pauses double from 100 ms.
  for (const [attempt, pauseMs] of [
    [4, 800],
    [5, 1_600],
  ] as const) {
    const [before, after] = [attempts.get(attempt), attempts.get(attempt + 1)];
    expect((after?.began ?? 0) - (before?.ended ?? 0)).toBeGreaterThanOrEqual(pauseMs);
  }
  const told = (words: string) => worker.log.filter(({ msg }) => String(msg).startsWith(words));
  expect([told('job failed'), told('plant cannot be processed')].map(({ length }) => length)).toEqual([1, 1]);
});

test('the number of attempts outlives the worker: a restart does not begin with short pauses again', async () => {
  const { commit } = await storeCommit(plants, 1, { name: 5 as never });
  await publish(commit);
  const attempts = async () => (await queue.getJob(creationJobId(commit)))?.attemptsMade ?? 0;
  await start({ RELAY_AGE_MS: '100', RELAY_INTERVAL_MS: '50' });
  await waitFor(async () => (await attempts()) >= 5, { withinMs: 15_000, what: 'it has failed five times' });
  await system.stopWorkers();
  const before = await attempts();
  const started = performance.now();
  await start({ RELAY_AGE_MS: '100', RELAY_INTERVAL_MS: '50' });
  await waitFor(async () => (await attempts()) > before, { withinMs: 15_000, what: 'it is retried' });
  expect(performance.now() - started).toBeGreaterThan(1_500);
});

test('a job of somebody else fails at once, is told of once, and is never retried', async () => {
  const worker = await start();
  await queue.add('report.weekly', { pages: 7 } as never, { jobId: 'weekly', attempts: 5 });
  await waitFor(async () => (await queue.getFailedCount()) === 1, { withinMs: 10_000, what: 'it failed' });
  // Another failed job shows that the relay has been there meanwhile.
  await publish('f'.repeat(24));
  await waitFor(async () => (await worker.metric('plants_jobs_total', 'outcome="done"')) === 1, {
    withinMs: 10_000,
    what: 'the worker goes on',
  });
  await failedCommit();
  await untilProcessed(database);
  await waitFor(async () => (await queue.getFailedCount()) === 1, {
    withinMs: 10_000,
    what: 'ours was retried',
  });

  const job = await queue.getJob('weekly');
  expect(job).toMatchObject({ attemptsMade: 1, failedReason: 'no creation job: it names no commit' });
  expect(await worker.metric('plants_jobs_total', 'outcome="foreign"')).toBe(1);
  expect(worker.log.filter((line) => line['job'] === 'weekly')).toEqual([
    expect.objectContaining({
      level: 50,
      name: 'report.weekly',
      msg: 'the queue holds a job that is no creation job: not retried',
    }),
  ]);
});

test.each([
  ['no data at all', undefined],
  ['another version', { version: 9, commits: 'all' }],
  [
    'commits that are none',
    { version: 2, commits: [7, null, { commit: 'x' }, { commit: ['a'.repeat(24)] }] },
  ],
  ['a number of plants that is none', { version: 2, commits: [{ commit: 'a'.repeat(24), plants: 'many' }] }],
])('a creation job with %s is done by its id', async (_what, data) => {
  const { commit } = await storeCommit(plants, 2);
  await queue.add('plants.created', data as never, { jobId: creationJobId(commit), removeOnComplete: true });
  await start({ RELAY_AGE_MS: '30000' });
  await untilProcessed(database);
  await untilNoJobIsLeft(system);
});
