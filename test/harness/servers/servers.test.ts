import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { testDatabase, testQueue } from './servers.ts';

const database = testDatabase();
const queue = testQueue();

test('the database is a replica set with a primary and takes majority writes', async () => {
  await using client = new MongoClient(database.url);
  const hello = await client.db().command({ hello: 1 });
  expect(hello['isWritablePrimary']).toBe(true);
  expect(client.db().databaseName).toBe(database.name);
  const written = await client
    .db()
    .collection('facts')
    .insertOne({ a: 1 }, { writeConcern: { w: 'majority', j: true } });
  expect(written.acknowledged).toBe(true);
});

test('mongod keeps no history of what was updated, in which nothing reads', async () => {
  await using client = new MongoClient(database.url);
  const parameter = 'minSnapshotHistoryWindowInSeconds';
  const answer = await client.db('admin').command({ getParameter: 1, [parameter]: 1 });
  expect(answer[parameter]).toBe(0);
});

test('Redis keeps what waits: append-only file on, no eviction', async () => {
  const redis = new Redis(queue.url);
  try {
    expect(await redis.config('GET', 'appendonly')).toEqual(['appendonly', 'yes']);
    expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  } finally {
    redis.disconnect();
  }
});
