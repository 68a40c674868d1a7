import { afterEach, describe, expect, test } from 'vitest';
import { freshId } from '../../harness/api/post-plant.ts';
import { create, outcomeOf } from './disturbed-api.ts';
import { privateApi } from './private-api.ts';

const api = privateApi();

/** How the next inserts (or other commands) fail: see "failCommand" of mongod's test commands. */
type Failure = {
  commands?: string[];
  times?: number;
  errorCode?: number;
  closeConnection?: true;
  writeConcernError?: { code: number; errmsg: string };
  blockConnection?: true;
  blockTimeMS?: number;
};

const failCommand = (mode: unknown, data?: unknown) =>
  api.mongo
    .db('admin')
    .command({ configureFailPoint: 'failCommand', mode, ...(data !== undefined && { data }) });

const fail = ({ commands = ['insert'], times = 1, ...how }: Failure) =>
  failCommand({ times }, { failCommands: commands, appName: 'plant-store-api', ...how });

afterEach(() => failCommand('off'));

const createOne = async (id: bigint, name = 'a', subject = 'gardener') =>
  outcomeOf(await create(api.replica, { id, name }, { subject }));
const stored = (id: bigint) => api.plants.countDocuments({ _id: id });

describe('a write concern error tells nothing about any plant of the commit', () => {
  const error = { code: 64, errmsg: 'waiting for replication timed out' };

  test('a plant that a majority holds all the same: 200', async () => {
    await fail({ writeConcernError: error });
    const id = freshId();
    expect(await createOne(id)).toBe(200);
    expect(await stored(id)).toBe(1);
  });

  test('with duplicates in the same commit: each its own answer, never a false 200 or 1002', async () => {
    const taken = Array.from({ length: 5 }, freshId);
    for (const id of taken) await createOne(id, 'first', 'neighbour');
    const plants = [
      ...taken.map((id) => ({ id, outcomes: [1002, 1002] })),
      ...Array.from({ length: 40 }, freshId).map((id) => ({ id, outcomes: [200, 'replayed'] })),
    ];
    // A replica that has not seen the ids sends them with the others, instead of keeping them apart.
    await using other = await api.another();
    const createAll = () =>
      Promise.all(plants.map(async ({ id }) => outcomeOf(await create(other, { id, name: 'second' }))));

    await fail({ writeConcernError: error, times: 10 });
    const first = await createAll();
    await failCommand('off');
    const second = await createAll();
    for (const [index, { outcomes }] of plants.entries()) {
      // mongod has waited for nothing, so that a majority read may come too early: then the answer says so.
      expect([outcomes[0], 5002]).toContain(first[index]);
      expect(second[index]).toBe(outcomes[1]);
    }
    expect(first.filter((outcome) => outcome !== 5002).length).toBeGreaterThan(0);
    expect(await api.plants.countDocuments({ _id: { $in: taken }, name: 'first' })).toBe(taken.length);
  });
});

describe.each([
  [91, 'ShutdownInProgress'],
  [189, 'PrimarySteppedDown'],
  [11602, 'InterruptedDueToReplStateChange'],
  [10107, 'NotWritablePrimary'],
  [13435, 'NotPrimaryNoSecondaryOk'],
  [6, 'HostUnreachable'],
  [50, 'MaxTimeMSExpired'],
  [24, 'LockTimeout'],
  [14031, 'OutOfDiskSpace'],
])('error %i (%s)', (errorCode) => {
  test('once: sent again, 200', async () => {
    await fail({ errorCode });
    const id = freshId();
    expect(await createOne(id)).toBe(200);
    expect(await stored(id)).toBe(1);
  });

  test('twice: 5002, and the retry creates', async () => {
    await fail({ errorCode, times: 2 });
    const id = freshId();
    expect(await createOne(id)).toBe(5002);
    await failCommand('off');
    await api.recovered();
    expect(await createOne(id)).toBe(200);
    expect(await stored(id)).toBe(1);
  });
});

test('a connection that closes before the insert: sent again, 200', async () => {
  await fail({ closeConnection: true });
  const id = freshId();
  expect(await createOne(id)).toBe(200);
  expect(await stored(id)).toBe(1);
});

test('an insert that lands after it was given up and sent again: 200, stored once', async () => {
  await fail({ blockConnection: true, blockTimeMS: 1_800 });
  const id = freshId();
  expect(await createOne(id)).toBe(200);
  expect(await stored(id)).toBe(1);
});
