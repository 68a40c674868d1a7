import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMongoClient } from '../../../packages/platform/src/mongo/mongo.ts';
import { type ProcessingDeps, processCommits } from '../../../services/worker/src/jobs/process-commits.ts';
import { createIndexes } from '../../harness/servers/create-indexes.ts';
import { longTimeouts } from '../../harness/servers/long-timeouts.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { processing, sealing } from '../batch-parts.ts';
import { expectProcessed, untilProcessed } from '../processed.ts';
import { type StoredCommit, storeCommit } from '../stored-plants.ts';
import { workerUnderTest } from '../worker-under-test.ts';

const { database, environment, plants, publish, start } = workerUnderTest();
const client = createMongoClient(environment['MONGODB_URL'] as string, 'repetition-test', longTimeouts);
const name = database.databaseName;
afterAll(() => client.close());

const PAGE = 100;
const STEPS = ['read', 'index', 'audit', 'clear'] as const;
type Step = (typeof STEPS)[number];

let commits: StoredCommit[];
const names = () => commits.map(({ commit }) => commit);
const worker = (sealer = 'worker-1') =>
  processing(client, name, sealing(client, name, { sealer, chains: 4 }));

beforeAll(() => createIndexes(client.db(name)));
beforeEach(async () => {
  commits = [await storeCommit(plants, 5), await storeCommit(plants, 250), await storeCommit(plants, 1)];
});

/** The same steps, with something happening right after one of them, the first time it is done. */
function after(step: Step, deps: ProcessingDeps, happens: () => Promise<void>): ProcessingDeps {
  let happened = false;
  const once = async () => {
    if (happened) return;
    happened = true;
    await happens();
  };
  const then =
    <Args extends unknown[], Result>(name: Step, act: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const result = await act(...args);
      if (name === step) await once();
      return result;
    };
  return {
    ...deps,
    pending: {
      async *pages(...args) {
        for await (const page of deps.pending.pages(...args)) {
          if (step === 'read') await once();
          yield page;
        }
      },
      clear: then('clear', deps.pending.clear),
    },
    index: then('index', deps.index),
    audit: then('audit', deps.audit),
  };
}

describe.each(STEPS)('after the step "%s"', (step) => {
  test('another worker processes the whole batch: the end is the same', async () => {
    const other = async () => void (await processCommits(worker('worker-2'), names(), PAGE));
    await processCommits(after(step, worker(), other), names(), PAGE);
    await expectProcessed(database);
  });

  test('the worker dies and another one takes over: the end is the same', async () => {
    const dies = async () => {
      throw new Error('killed');
    };
    await expect(processCommits(after(step, worker(), dies), names(), PAGE)).rejects.toThrow('killed');
    await processCommits(worker('worker-2'), names(), PAGE);
    await expectProcessed(database);
  });

  test('the worker sleeps while another one works, more plants come, and wakes late: the end is the same', async () => {
    const meanwhile = async () => {
      await processCommits(worker('worker-2'), names(), PAGE);
      commits.push(await storeCommit(plants, 20));
      await processCommits(worker('worker-3'), names(), PAGE);
    };
    await processCommits(after(step, worker(), meanwhile), names(), PAGE);
    await expectProcessed(database);
  });

  test('a late member of the commit lands: it stays pending, and the next batch has it', async () => {
    const [first] = commits as [StoredCommit];
    const [member] = first.plants;
    const late = {
      ...member,
      _id: 9_000_000_000n + BigInt(STEPS.indexOf(step)),
    } as (typeof first.plants)[number];
    const lands = async () => void (await plants.insertOne(late, { writeConcern: { w: 'majority' } }));
    await processCommits(after(step, worker(), lands), names(), PAGE);
    expect(await plants.findOne({ _id: late._id })).toMatchObject({ pending: true });
    await processCommits(worker(), names(), PAGE);
    await expectProcessed(database);
  });
});

test('eight workers at the same commits at once end as one would', async () => {
  const workers = Array.from({ length: 8 }, (_, index) => worker(`worker-${index}`));
  await Promise.all(workers.map((deps) => processCommits(deps, names(), PAGE)));
  await expectProcessed(database);
});

test('a batch with nothing pending changes nothing', async () => {
  await processCommits(worker(), names(), PAGE);
  // The clear waits for nobody, so a majority may still see the flags for a moment.
  const majority = { readConcern: { level: 'majority' } } as const;
  await waitFor(async () => (await plants.countDocuments({ pending: true }, majority)) === 0, {
    withinMs: 5_000,
    what: 'a majority has the clear',
  });
  const blocks = await database.collection('audit_blocks').countDocuments();
  const reports = await processCommits(worker(), names(), PAGE);
  expect(reports.map(({ plants, poison }) => plants + poison.length)).toEqual([0, 0, 0]);
  expect(await database.collection('audit_blocks').countDocuments()).toBe(blocks);
});

test('three worker processes’ worth of jobs, each published several times, end as one would', async () => {
  await Promise.all([start(), start(), start()]);
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 30 }, async () => commits.push(await storeCommit(plants, 10))));
    for (let times = 0; times < 3; times++) await Promise.all(names().map((commit) => publish(commit, 10)));
  }
  await untilProcessed(database);
  await expectProcessed(database);
});
