import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { token } from '../harness/api/tokens.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testDatabase, testEnvironment, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';

/** CREATES=100000 is the size the promise is shown at; the tests show it at this one each time. */
const CREATES = Number(process.env['CREATES'] ?? 5_000);
const PROCESSED_MS_MAX = 60_000;

const database = testDatabase();
const queue = testQueue();
const mongo = new MongoClient(database.url, { useBigInt64: true });
const programs: Program[] = [];

beforeAll(async () => {
  const environment = { ...testEnvironment({ mongodbUrl: database.url, queue }), DRAIN_MS: '0' };
  for (const service of ['api', 'worker'] as const) programs.push(await startProgram(service, environment));
});
afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  await mongo.close();
});

test.each([64, 256])(
  `${CREATES} creates over %i connections: each 200 is stored, indexed and audited exactly once, and none stays pending`,
  { timeout: 10 * PROCESSED_MS_MAX },
  async (connections) => {
    const first = connections * 1_000_000_000;
    const statuses = await createMany(first, connections);
    expect(statuses).toEqual(new Map([[200, CREATES]]));

    const db = mongo.db(database.name);
    await waitFor(async () => (await db.collection('plants').countDocuments({ pending: true })) === 0, {
      withinMs: PROCESSED_MS_MAX,
      what: 'no plant is pending',
    });

    const ids = { $gte: BigInt(first), $lt: BigInt(first + CREATES) };
    const expected = Array.from({ length: CREATES }, (_, index) => BigInt(first + index));
    const sorted = async (collection: string) =>
      (await db.collection<{ _id: bigint }>(collection).find({ _id: ids }).sort({ _id: 1 }).toArray()).map(
        ({ _id }) => _id,
      );
    expect(await sorted('plants')).toEqual(expected);
    expect(await sorted('plant_search')).toEqual(expected);

    const audited = await db
      .collection('audit_blocks')
      .aggregate<{ plant: bigint }>([
        { $unwind: '$entries' },
        { $match: { 'entries.plant': ids } },
        { $project: { _id: 0, plant: '$entries.plant' } },
        { $sort: { plant: 1 } },
      ])
      .toArray();
    expect(audited.map(({ plant }) => plant)).toEqual(expected);
  },
);

/** A closed loop: each connection sends its next create when the last one is answered. Counts the answers by status. */
async function createMany(first: number, connections: number): Promise<Map<number, number>> {
  const url = `${programs[0]?.url}/plants`;
  const headers = { authorization: `Bearer ${token()}`, 'content-type': 'application/json' };
  const statuses = new Map<number, number>();
  let next = 0;
  const connection = async () => {
    while (next < CREATES) {
      const number = next++;
      const body = JSON.stringify({ id: first + number, name: `Plant ${number}`, tag: 'système' });
      const answer = await fetch(url, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return statuses;
}
