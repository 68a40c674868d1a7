import { Agent, request } from 'node:http';
import { CREATIONS_QUEUE, readCreationJob } from '@plant-store/contracts/creation-job';
import { Queue } from 'bullmq';
import { MongoClient } from 'mongodb';
import { afterAll, expect, test } from 'vitest';
import { ready } from '../harness/api/api.ts';
import { freshId, plantJson, postPlant } from '../harness/api/post-plant.ts';
import { token } from '../harness/api/tokens.ts';
import { mongoProxy } from '../harness/network/mongo-proxy.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';

const environment = testEnvironment();
const mongo = new MongoClient(environment.MONGODB_URL, { useBigInt64: true });
const plants = mongo.db().collection<{ _id: bigint }>('plants');
afterAll(() => mongo.close());

async function start(extra: Record<string, string> = {}): Promise<Program> {
  const program = await startProgram('api', { ...environment, ...extra });
  await ready(program.internalUrl);
  return program;
}

/** From SIGTERM to the exit. 0 says that it was over within 10 s: what takes longer ends with 1. */
async function drain(program: Program): Promise<void> {
  expect(await program.stop()).toBe(0);
}

type Served = { id: bigint; status: number; closes: boolean };

/** One request on the agent's connection. Rejects when the connection is cut. */
function createOn(agent: Agent, url: string): Promise<Served> {
  const id = freshId();
  return new Promise((resolve, reject) => {
    const post = request(`${url}/plants`, {
      agent,
      method: 'POST',
      headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json' },
    });
    post.on('error', reject);
    post.on('response', (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () =>
        resolve({ id, status: response.statusCode ?? 0, closes: response.headers.connection === 'close' }),
      );
    });
    post.end(plantJson({ id, name: 'a' }));
  });
}

/** A client with one kept-alive connection, which goes elsewhere when it is told that the connection closes. */
async function client(url: string): Promise<Served[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const served: Served[] = [];
  do served.push(await createOn(agent, url));
  while (!served.at(-1)?.closes);
  agent.destroy();
  return served;
}

test('SIGTERM under load: no accepted request is cut, every 200 is stored and published, the exit is clean', async () => {
  const program = await start({ DRAIN_MS: '3000' });
  const url = program.url;
  await waitFor(() => publishes(url), { withinMs: 10_000, what: 'it publishes what it creates' });
  const before = { plants: await plants.countDocuments(), lines: program.log.length };
  const clients = Array.from({ length: 32 }, () => client(url));
  await waitFor(async () => (await plants.countDocuments()) > before.plants + 300, {
    withinMs: 15_000,
    what: 'there is load',
  });

  const exit = drain(program);
  // New clients are served until it takes no connection any more.
  await waitFor(async () => (await fetch(`${program.internalUrl}/readyz`)).status === 503, {
    withinMs: 5_000,
    what: 'readiness fails',
  });
  const late = await client(url);

  const served = [...(await Promise.all(clients)).flat(), ...late];
  await exit;
  expect(served.filter(({ status }) => status !== 200)).toEqual([]);
  const ids = { _id: { $in: served.map(({ id }) => id) } };
  expect(await plants.countDocuments(ids)).toBe(served.length);
  expect(await plants.countDocuments()).toBe(before.plants + served.length);
  const commits = new Set((await plants.distinct('commit', ids)).map(String));
  expect(commits.difference(await publishedCommits())).toEqual(new Set());
  expect(
    program.log
      .slice(before.lines)
      .filter(({ level, msg }) => Number(level) > 30 && msg !== 'request was slow'),
  ).toEqual([]);
});

/** Whether what is created now is on the queue soon afterwards. */
async function publishes(url: string): Promise<boolean> {
  const id = freshId();
  await postPlant(url, { id, name: 'a' });
  const commits = await plants.distinct('commit', { _id: id });
  const commit = String(commits[0]);
  const isPublished = async () => (await publishedCommits()).has(commit);
  return waitFor(isPublished, { withinMs: 1_000, what: 'the commit is published' });
}

test.concurrent('what is in flight when the listener closes is answered first', async () => {
  await using proxy = await mongoProxy(environment.MONGODB_URL);
  const program = await start({ MONGODB_URL: proxy.url, DRAIN_MS: '0' });
  const url = program.url;
  const agents = Array.from({ length: 50 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  await Promise.all(agents.map((agent) => createOn(agent, url)));

  // There and back longer than a commit holds the next one back, and short beside the time to connect.
  proxy.delay(150);
  const before = proxy.seen('insert').length;
  const answers = Promise.all(agents.map((agent) => createOn(agent, url)));
  const underWay = () =>
    proxy
      .seen('insert')
      .slice(before)
      .flatMap(({ body }) => body['documents']);
  await waitFor(() => underWay().length === agents.length, { withinMs: 10_000, what: 'all are under way' });
  const exit = drain(program);
  expect((await answers).map(({ status }) => status)).toEqual(agents.map(() => 200));
  await exit;
  for (const agent of agents) agent.destroy();
});

test.concurrent('it exits in time although a client is idle and another never finishes its request', async () => {
  const program = await start({ DRAIN_MS: '0' });
  const url = program.url;
  const idle = new Agent({ keepAlive: true });
  await createOn(idle, url);
  const halfSent = request(`${url}/plants`, { method: 'POST', headers: { 'content-length': '100' } });
  halfSent.on('error', () => {});
  halfSent.flushHeaders();
  await drain(program);
  idle.destroy();
});

test.concurrent('it drains with its database gone and its queue gone', async () => {
  await using proxy = await mongoProxy(environment.MONGODB_URL);
  const program = await start({
    MONGODB_URL: proxy.url,
    REDIS_URL: 'redis://127.0.0.1:1',
    DRAIN_MS: '500',
  });
  const url = program.url;
  expect((await postPlant(url, { id: freshId(), name: 'a' })).status).toBe(200);
  proxy.refuse();
  await waitFor(async () => (await program.metric('plants_mongodb_up')) === 0, {
    withinMs: 5_000,
    what: 'it sees that the database is gone',
  });
  const answer = postPlant(url, { id: freshId(), name: 'b' });
  const exit = drain(program);
  expect((await answer).body.error).toBe(5001);
  await exit;
});

async function publishedCommits(): Promise<Set<string>> {
  const jobs = new Queue(CREATIONS_QUEUE, {
    connection: { url: environment.REDIS_URL },
    prefix: environment.QUEUE_PREFIX,
  });
  try {
    const waiting = await jobs.getJobs(['waiting', 'active', 'delayed', 'failed']);
    return new Set(
      waiting.flatMap(({ id = '', data }) => readCreationJob(id, data).commits.map(({ commit }) => commit)),
    );
  } finally {
    await jobs.close();
  }
}
