import { createMongoClient, hasPrimary } from '@plant-store/platform/mongo/mongo';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PrivateServer, privateMongod } from '../harness/servers/private-servers.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { underLoadMs, waitFor } from '../harness/wait-for.ts';

needsServers();

let mongod: PrivateServer;
beforeAll(async () => {
  mongod = await privateMongod();
});
afterAll(() => mongod.close());

test('a client made while the database is down works once it is up, whatever was asked in between', async () => {
  await mongod.stop();
  const client = createMongoClient(mongod.url, 'test');
  try {
    const asked = await Promise.allSettled([1, 2, 3].map(() => client.db('test').command({ ping: 1 })));
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(client.db('test').command({ ping: 1 })).rejects.toThrow();

    await mongod.start();
    await waitFor(() => hasPrimary(client), { withinMs: 5_000, what: 'the client sees the primary' });
  } finally {
    await client.close();
  }
});

test('a client that never connected closes at once and stops trying', async () => {
  const client = createMongoClient('mongodb://127.0.0.1:1/', 'test');
  const started = performance.now();
  await client.close();
  expect(performance.now() - started).toBeLessThan(underLoadMs(1_000));
  await expect(client.db('test').command({ ping: 1 })).rejects.toThrow();
});
