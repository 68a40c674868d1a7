import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../servers/servers.ts';
import { waitFor } from '../wait-for.ts';
import { type MongoProxy, mongoProxy } from './mongo-proxy.ts';

const { url } = testDatabase();
let proxy: MongoProxy;
let client: MongoClient;
let direct: MongoClient;

beforeAll(async () => {
  proxy = await mongoProxy(url);
  client = new MongoClient(proxy.url, { appName: 'held', retryWrites: false });
  direct = new MongoClient(url);
  await client.connect();
});
afterAll(async () => {
  await client?.close();
  await direct?.close();
  await proxy?.close();
});

const stored = (name: string) => direct.db().collection('steps').countDocuments({ name });
const insert = (name: string, collection = 'steps') => client.db().collection(collection).insertOne({ name });

test('held at its request, a command reaches the server only when it is released; others pass', async () => {
  const held = proxy.hold({ command: 'insert', collection: 'steps', client: 'held', at: 'request' });
  const inserting = insert('request');
  await held.reached;
  await insert('another collection', 'others');
  expect(await stored('request')).toBe(0);
  held.release();
  await inserting;
  expect(await stored('request')).toBe(1);
});

test('held at its request, a command reaches the server though its client has been cut off meanwhile', async () => {
  const held = proxy.hold({ command: 'insert', collection: 'steps', at: 'request' });
  const inserting = insert('late');
  await held.reached;
  proxy.refuse();
  await expect(inserting).rejects.toThrow();
  await proxy.accept();
  expect(await stored('late')).toBe(0);
  held.release();
  await waitFor(async () => (await stored('late')) === 1, { withinMs: 5_000, what: 'the insert landed' });
});

test('held at its reply, a command is executed, and its client learns of it only when it is released', async () => {
  const held = proxy.hold({ command: 'insert', collection: 'steps', at: 'reply' });
  let isAnswered = false;
  const inserting = insert('reply').then(() => {
    isAnswered = true;
  });
  await held.reached;
  expect(await stored('reply')).toBe(1);
  expect(isAnswered).toBe(false);
  held.release();
  await inserting;
});

test('lost where it is held, a command ends in an error, and nothing is held any more', async () => {
  const held = proxy.hold({ command: 'insert', collection: 'steps', at: 'request' });
  const inserting = insert('lost');
  await held.reached;
  held.lose();
  await expect(inserting).rejects.toThrow();
  expect(await stored('lost')).toBe(0);
  await insert('after', 'steps');
  expect(await stored('after')).toBe(1);
});

test('what another client does is not held', async () => {
  const held = proxy.hold({ command: 'insert', client: 'somebody else', at: 'request' });
  const passed = insert('not held').then(() => 'passed');
  expect(await Promise.race([passed, held.reached.then(() => 'held')])).toBe('passed');
  held.release();
});
