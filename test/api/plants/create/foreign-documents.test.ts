import { once } from 'node:events';
import { connect } from 'node:net';
import { BSON, BSONRegExp, Decimal128, Double, Int32, ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import type { PlantDocument } from '../../../../packages/contracts/src/plant-document.ts';
import { createMongoClient } from '../../../../packages/platform/src/mongo/mongo.ts';
import { mongoPlants } from '../../../../services/api/src/storage/mongo-plants.ts';
import { apiUnderTest } from '../../../harness/api/api.ts';
import { freshId, postPlant } from '../../../harness/api/post-plant.ts';
import { pendingPlant } from '../../../worker/stored-plants.ts';

const OP_MSG = 2_013;

/** A restored backup, mongoimport or a hand at the shell may have put anything under an id. */
const api = apiUnderTest();

const document = (id: bigint) => pendingPlant(new ObjectId(), { _id: id });
const insert = (stray: object) => api.plants.insertOne(stray as PlantDocument);
const smallId = (id: bigint) => id % 2n ** 31n;

const strays: [string, (id: bigint) => Promise<unknown>][] = [
  ['has its id alone', (id) => insert({ _id: id })],
  ['has a commit that is text', (id) => insert({ ...document(id), commit: 'text' })],
  ['has a creator that is null', (id) => insert({ ...document(id), by: null })],
  ['has a name that is a number', (id) => insert({ ...document(id), name: 7 })],
  ['has a name that is no UTF-8', (id) => insertRaw(document(id))],
  [
    'has a name that is a regular expression of another language',
    (id) => insert({ ...document(id), name: new BSONRegExp('(?i)rose') }),
  ],
  ['has a decimal as id', (id) => insert({ ...document(id), _id: Decimal128.fromString(`${id}`) })],
  ['has an int32 as id', (id) => insert({ ...document(id), _id: new Int32(Number(id)) })],
  ['has a double as id', (id) => insert({ ...document(id), _id: new Double(Number(id)) })],
];

test.each(strays)(
  '1002: an id whose document %s is taken, and fails no other create',
  async (_what, stray) => {
    const id = smallId(freshId());
    await stray(id);
    const stored = freshId();
    expect(await answerTo(stored)).toBe(200);
    const created: bigint[] = [];
    // First the insert finds that the id is taken; then the replica knows it, and reads it first.
    for (let round = 0; round < 2; round++) {
      const others = Array.from({ length: 5 }, freshId);
      const answers = await Promise.all([id, stored, ...others].map(answerTo));
      expect(answers).toEqual([1002, 1008, 200, 200, 200, 200, 200]);
      created.push(...others);
    }
    expect(await api.plants.countDocuments({ _id: { $in: created } })).toBe(created.length);
    await expectReadable(id, stored);
  },
);

/** Read together, as ids that one insert left open: each is found, and a plant beside the stray is whole. */
async function expectReadable(stray: bigint, stored: bigint): Promise<void> {
  const client = createMongoClient(api.environment['MONGODB_URL'] as string, 'test');
  try {
    const { dbName: database } = api.plants;
    const onReadFailed = vi.fn();
    const store = mongoPlants({ client, database, instance: 'i', onInserted: vi.fn(), onReadFailed });
    const read = await store.read([stray, stored, freshId()], 5_000);
    expect(onReadFailed).not.toHaveBeenCalled();
    expect(new Set(read?.keys())).toEqual(new Set([stray, stored]));
    expect(read?.get(stored)).toMatchObject({ plant: { id: stored, name: 'a' } });
  } finally {
    await client.close();
  }
}

async function answerTo(id: bigint): Promise<number> {
  const { status, body } = await postPlant(api.url, { id, name: 'a' });
  return body.error ?? status;
}

/** Inserts the plant with a name of two bytes that are no UTF-8, which the driver cannot send: as OP_MSG on a socket. */
async function insertRaw(plant: PlantDocument): Promise<void> {
  const { dbName, collectionName } = api.plants;
  const documents = [{ ...plant, name: '!!' }];
  const command = BSON.serialize({ insert: collectionName, documents, $db: dbName });
  const message = Buffer.concat([Buffer.alloc(21), command]);
  for (const [index, value] of [message.length, 1, 0, OP_MSG].entries())
    message.writeInt32LE(value, 4 * index);
  message.fill(0xff, message.indexOf('!!'), message.indexOf('!!') + 2);

  const { hostname, port } = new URL(api.environment['MONGODB_URL'] as string);
  const socket = connect(Number(port), hostname);
  socket.write(message);
  await once(socket, 'data');
  socket.destroy();
}
