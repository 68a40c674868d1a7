import { Redis } from 'ioredis';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freshId, postPlant } from '../../harness/api/post-plant.ts';
import { type Fault, type MongoProxy, mongoProxy } from '../../harness/network/mongo-proxy.ts';
import {
  type PrivateServer,
  privateRedis,
  privateReplicaSet,
} from '../../harness/servers/private-servers.ts';
import { testDatabase } from '../../harness/servers/servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { type EventsState, eventsModel } from '../events-model.ts';
import { type StorageState, storageModel } from '../storage-model.ts';
import { type EventsTrace, eventsTrace } from './events-trace.ts';
import type { Recorded } from './recorded.ts';
import { type RecordedSystem, recordedSystem } from './recorded-system.ts';
import { type Replay, replay, type TracedStep } from './replay.ts';
import { storageTrace } from './storage-trace.ts';

/**
 * What real processes do, with faults between their steps, is a path of the model, and ends where the model ends. The
 * processes run unchanged on a real mongod and Redis; `recorder.ts` observes them.
 */
/** A stalled job is taken over after at most its lock and two checks; twice that on a busy machine. */
const PROCESSED_MS_MAX = 40_000;

let redis: PrivateServer;
let next = 0;
beforeAll(async () => {
  redis = await privateRedis();
});
afterAll(() => redis?.close());

type Running = { system: RecordedSystem; database: Db; url: string };

/** Processes of a test's own, on a database and a queue of its own. */
async function started(url: string): Promise<Running> {
  const system = recordedSystem({ url: redis.url, prefix: `{conformance-${next++}}` });
  const client = await new MongoClient(url, { useBigInt64: true }).connect();
  onTestFinished(async () => {
    await system[Symbol.asyncDispose]();
    await client.close();
  });
  return { system, database: client.db(), url };
}

async function proxied(url: string): Promise<MongoProxy> {
  const proxy = await mongoProxy(url);
  onTestFinished(() => proxy.close());
  return proxy;
}

const databases = Array.from({ length: 8 }, () => testDatabase().url);
const ownDatabase = () => databases.pop() as string;

const pending = (database: Db) => database.collection('plants').countDocuments({ pending: true });

async function processed({ database }: Running, plants: number): Promise<void> {
  await waitFor(
    async () =>
      (await database.collection('plants').countDocuments()) === plants && (await pending(database)) === 0,
    { withinMs: PROCESSED_MS_MAX, what: `${plants} plants are stored, and none is pending` },
  );
}

/** Ends the processes and replays what they did. */
async function replayed(
  { system, database }: Running,
  change = (recorded: Recorded[]) => recorded,
): Promise<Replay> {
  await system.stop();
  return replayEvents(eventsTrace(change(system.recorded())), database);
}

async function replayEvents(trace: EventsTrace, database: Db): Promise<Replay> {
  const model = eventsModel({
    homes: trace.homes,
    logLengthMax: 3,
    sharedJobs: true,
    remembersHeads: 'sealed',
    interchangeable: false,
  });
  const observed = await observedIn(database, trace);
  return replay(model, trace.steps, {
    isHidden: (label) => /^a majority has the |^the old primary steps down$/.test(label),
    isEnd: (state) => model.done(state) && JSON.stringify(modelled(state)) === JSON.stringify(observed),
  });

  function modelled({ durable }: EventsState) {
    const view = model.database.viewOf(durable);
    const blocks = view.blocks.map(model.database.blockOf);
    return {
      plants: view.plants.map((stored) => stored && { commit: stored.commit, pending: stored.pending }),
      indexed: view.index.map((content) => content !== undefined),
      blocks: blocks
        .map(({ height, entries }) => ({ height, plants: entries.map(([plant]) => plant).sort() }))
        .sort((a, b) => a.height - b.height),
    };
  }
}

async function observedIn(database: Db, { plants: ids, commits }: EventsTrace) {
  const all = (name: string) => database.collection<{ _id: bigint }>(name).find().toArray();
  const [plants, index, blocks] = await Promise.all(['plants', 'plant_search', 'audit_blocks'].map(all));
  const found = (documents: readonly { _id: bigint }[] | undefined, id: bigint) =>
    documents?.find(({ _id }) => _id === id) as Record<string, unknown> | undefined;
  return {
    plants: ids.map((id) => {
      const plant = found(plants, id);
      return (
        plant && { commit: commits.indexOf(String(plant['commit'])), pending: plant['pending'] === true }
      );
    }),
    indexed: ids.map((id) => found(index, id) !== undefined),
    blocks: (blocks as unknown as { height: number; entries: { plant: bigint }[] }[])
      .map(({ height, entries }) => ({
        height,
        plants: entries.map(({ plant }) => ids.indexOf(plant)).sort(),
      }))
      .sort((a, b) => a.height - b.height),
  };
}

/** Compared whole, so that a refusal is printed with its line and the steps that were due. */
const allowed = { allowed: true, states: expect.any(Number) };

const create = (url: string, name = 'fern', id = freshId()) =>
  postPlant(url, { id, name }, { key: `key-of-${name.replaceAll(' ', '-')}` }).then(
    ({ status, body }) => body.error ?? status,
    () => undefined,
  );

test('plants of shared and of single jobs, two workers', async () => {
  const running = await started(ownDatabase());
  const { system, url } = running;
  const api = await system.start('api-0', url);
  await Promise.all([system.start('worker-0', url), system.start('worker-1', url)]);
  expect(await Promise.all([create(api.url), create(api.url)])).toEqual([200, 200]);
  await processed(running, 2);
  expect(await create(api.url)).toBe(200);
  await processed(running, 3);
  expect(await replayed(running)).toEqual(allowed);
});

test('a shared job names first the commit that began last', async () => {
  const running = await started(ownDatabase());
  const { system, url } = running;
  const proxy = await proxied(url);
  const api = await system.start('api-0', proxy.url);
  const insert = { command: 'insert', collection: 'plants', at: 'reply' } as const;
  const replies = [];
  const answers = [];
  for (let commit = 0; commit < 2; commit++) {
    const reply = proxy.hold(insert);
    answers.push(create(api.url));
    await reply.reached;
    replies.push(reply);
  }
  for (const reply of replies.reverse()) reply.release();
  expect(await Promise.all(answers)).toEqual([200, 200]);
  // Not before: a relay could be faster, and publish the commits one by one.
  await Promise.all([system.start('worker-0', url), system.start('worker-1', url)]);
  await processed(running, 2);
  await system.stop();
  const recorded = system.recorded();
  const trace = eventsTrace(recorded);
  expect(publishedBy('api-0', recorded)).toEqual(trace.commits.toReversed());
  expect(await replayEvents(trace, running.database)).toEqual(allowed);
});

/** The commits that it published, in the order in which its jobs name them. */
const publishedBy = (process: string, recorded: readonly Recorded[]) =>
  recorded.flatMap((step) =>
    step.who === process && step.kind === 'publication' && step.phase === 'started'
      ? step.commits.flat()
      : [],
  );

test('an API killed between its commit and the publication', async () => {
  const running = await started(ownDatabase());
  const { system, url, database } = running;
  const proxy = await proxied(url);
  const api = await system.start('api-0', proxy.url);
  await system.start('worker-0', url);
  const insert = proxy.hold({ command: 'insert', collection: 'plants', at: 'request' });
  const answer = create(api.url);
  await insert.reached;
  // From here on it neither reads a reply nor sends anything.
  api.signal('SIGSTOP');
  insert.release();
  await waitFor(() => database.collection('plants').countDocuments(), {
    withinMs: 20_000,
    what: 'the plant is stored',
  });
  await system.kill('api-0');
  expect(await answer).toBeUndefined();
  await processed(running, 1);
  expect(publishedBy('api-0', system.recorded())).toEqual([]);
  expect(await replayed(running)).toEqual(allowed);
});

test('a worker killed between its block and the clear: its job stalls, another one takes it', async () => {
  const running = await started(ownDatabase());
  const { system, url, database } = running;
  const proxy = await proxied(url);
  const api = await system.start('api-0', url);
  await system.start('worker-0', proxy.url);
  const clear = proxy.hold({ command: 'update', collection: 'plants', at: 'request' });
  expect(await create(api.url)).toBe(200);
  await clear.reached;
  await system.kill('worker-0');
  expect(await database.collection('audit_blocks').countDocuments()).toBe(1);
  expect(await pending(database)).toBe(1);
  await system.start('worker-1', url);
  await processed(running, 1);
  expect(await database.collection('audit_blocks').countDocuments()).toBe(1);
  expect(await replayed(running)).toEqual(allowed);
});

test('the reply to a block is lost', async () => {
  const running = await started(ownDatabase());
  const { system, url } = running;
  const proxy = await proxied(url);
  const api = await system.start('api-0', url);
  await system.start('worker-0', proxy.url);
  proxy.plan('insert', 'pass', 'lose reply');
  expect(await create(api.url)).toBe(200);
  await processed(running, 1);
  expect(proxy.planned()).toEqual([]);
  expect(await replayed(running)).toEqual(allowed);
});

test('all of Redis is deleted while a job is active, and its block lands after another worker’s', async () => {
  const running = await started(ownDatabase());
  const { system, url } = running;
  const [first, second] = [await proxied(url), await proxied(url)] as const;
  const api = await system.start('api-0', url);
  await Promise.all([system.start('worker-0', first.url), system.start('worker-1', second.url)]);
  const blocks = [first, second].map((proxy) =>
    proxy.hold({ command: 'insert', collection: 'audit_blocks', at: 'request' }),
  );
  expect(await create(api.url)).toBe(200);
  await Promise.race(blocks.map(({ reached }) => reached));
  const block = blocks.find(({ isReached }) => isReached());
  for (const other of blocks) if (other !== block) other.release();
  system.note({ kind: 'fault began', fault: 'flush' });
  await flush();
  system.note({ kind: 'fault ended', fault: 'flush' });
  await processed(running, 1);
  const replies = system.recorded().length;
  block?.release();
  await waitFor(() => system.recorded().length > replies, {
    withinMs: 20_000,
    what: 'the late block is refused',
  });
  expect(await replayed(running)).toEqual(allowed);
});

async function flush(): Promise<void> {
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
}

test('a failover takes back a cleared flag: the plant is processed again, and nothing changes', async () => {
  const proxies: MongoProxy[] = [];
  const set = await privateReplicaSet({
    portBefore: async (port) => {
      const proxy = await proxied(`mongodb://127.0.0.1:${port}/`);
      proxies.push(proxy);
      return proxy.port;
    },
  });
  onTestFinished(() => set.close());
  const url = set.url.replace(/\/(?=\?|$)/, '/conformance');
  const running = await started(url);
  const { system, database } = running;
  const members = set.members.map(
    ({ port }) =>
      new MongoClient(`mongodb://127.0.0.1:${port}/conformance?directConnection=true`, { useBigInt64: true }),
  );
  onTestFinished(async () => void (await Promise.all(members.map((member) => member.close()))));
  const admin = (member: number, command: object) => members[member]?.db('admin').command(command);
  const hellos = await Promise.all(members.map((_member, at) => admin(at, { hello: 1 })));
  const primary = hellos.findIndex((hello) => hello?.['isWritablePrimary'] === true);
  const secondaries = [0, 1, 2].filter((member) => member !== primary);
  const replication = (mode: 'alwaysOn' | 'off') =>
    Promise.all(secondaries.map((at) => admin(at, { configureFailPoint: 'stopReplProducer', mode })));
  const api = await system.start('api-0', url);
  await system.start('worker-0', url);
  const clears = proxies.map((proxy) =>
    proxy.hold({ command: 'update', collection: 'plants', client: 'plant-store-worker', at: 'request' }),
  );
  expect(await create(api.url)).toBe(200);
  await Promise.race(clears.map(({ reached }) => reached));
  await replication('alwaysOn');
  for (const clear of clears) clear.release();
  // Secondaries that take nothing from the primary stand for election after 5 s.
  await waitFor(async () => (await pending((members[primary] as MongoClient).db())) === 0, {
    withinMs: 4_000,
    what: 'the flag is cleared',
  });
  system.note({ kind: 'fault began', fault: 'failover' });
  await set.members[primary]?.kill();
  await replication('off');
  await waitFor(async () => (await pending(database)) === 1, { withinMs: 30_000, what: 'the flag is back' });
  system.note({ kind: 'fault ended', fault: 'failover' });
  await processed(running, 1);
  await waitFor(async () => (await pendingByMajority(database)) === 0, {
    withinMs: 20_000,
    what: 'a majority has the clear',
  });
  expect(system.recorded().filter((step) => isOn(step, 'update', 'plants')).length).toBeGreaterThan(1);
  expect(await replayed(running)).toEqual(allowed);
});

const pendingByMajority = (database: Db) =>
  database.collection('plants', { readConcern: { level: 'majority' } }).countDocuments({ pending: true });

test.each<[string, (recorded: Recorded[]) => Recorded[]]>([
  ['a flag cleared before its block', (recorded) => moved(recorded, 'update', 'audit_blocks')],
  [
    'a block that was never sent',
    (recorded) => recorded.filter((step) => !isOn(step, 'insert', 'audit_blocks')),
  ],
  [
    'pending plants read locally',
    (recorded) => changed(recorded, 'find', 'plants', { readConcern: { level: 'local' } }),
  ],
  ['a block with w:1', (recorded) => changed(recorded, 'insert', 'audit_blocks', { writeConcern: { w: 1 } })],
  [
    'flags cleared by commit',
    (recorded) => changed(recorded, 'update', 'plants', { updates: [{ q: { commit: 1, pending: true } }] }),
  ],
  [
    'a plant acknowledged with w:1',
    (recorded) => changed(recorded, 'insert', 'plants', { writeConcern: { w: 1 } }),
  ],
  ['a job that nobody published', (recorded) => recorded.filter(({ kind }) => kind !== 'publication')],
])('a trace that was altered is no path of the model: %s', async (_what, alter) => {
  const running = await honestTrace();
  expect(await replayEvents(eventsTrace(running.recorded), running.database)).toMatchObject({
    allowed: true,
  });
  const altered = await replayEvents(eventsTrace(alter(running.recorded)), running.database);
  expect(altered).toMatchObject({ allowed: false });
  if (!altered.allowed) expect(altered.due.length + altered.instead.length).toBeGreaterThan(0);
});

test.each([
  ['update', 'plants'],
  ['delete', 'plants'],
  ['find', 'audit_blocks'],
])(
  'a trace in which the API sends a command that the model does not know is refused: %s %s',
  async (name, collection) => {
    const { recorded } = await honestTrace();
    const unknown: Recorded = {
      who: 'api-0',
      kind: 'command',
      phase: 'started',
      id: -1,
      name,
      body: { [name]: collection },
    };
    const refusal = `the model has no step for the command of the API: ${name} ${collection}`;
    expect(() => eventsTrace([...recorded, unknown])).toThrow(refusal);
    expect(() => storageTrace([...recorded, unknown], 1n)).toThrow(refusal);
  },
);

let honest: Promise<{ recorded: Recorded[]; database: Db }> | undefined;
const honestClient: MongoClient[] = [];
afterAll(() => Promise.all(honestClient.map((client) => client.close())));

/** One plant that nothing disturbed, recorded once for all altered traces. */
function honestTrace() {
  honest ??= record();
  return honest;

  async function record() {
    const url = ownDatabase();
    const client = new MongoClient(url, { useBigInt64: true });
    honestClient.push(client);
    const running = await started(url);
    const api = await running.system.start('api-0', url);
    await running.system.start('worker-0', url);
    expect(await create(api.url)).toBe(200);
    await processed(running, 1);
    await running.system.stop();
    return { recorded: running.system.recorded(), database: client.db() };
  }
}

function isOn(step: Recorded, name: string, collection: string): boolean {
  return (
    step.kind === 'command' &&
    step.phase === 'started' &&
    step.name === name &&
    step.body[name] === collection
  );
}

function changed(recorded: Recorded[], name: string, collection: string, fields: object): Recorded[] {
  return recorded.map((step) =>
    isOn(step, name, collection) && 'body' in step ? { ...step, body: { ...step.body, ...fields } } : step,
  );
}

/** Puts a command with its reply before another command. */
function moved(recorded: Recorded[], name: string, before: string): Recorded[] {
  const start = recorded.findIndex((step) => isOn(step, name, 'plants'));
  const { who, id } = recorded[start] as Recorded & { id: number };
  const isMoved = (step: Recorded) => step.kind === 'command' && step.who === who && step.id === id;
  const rest = recorded.filter((step) => !isMoved(step));
  const at = rest.findIndex((step) => isOn(step, 'insert', before));
  return rest.toSpliced(at, 0, ...recorded.filter(isMoved));
}

type Round = {
  name: string;
  faults: [Fault[], Fault[]];
  /** The first client's insert is held until a client has an answer. */
  holds?: true;
  /** The first client's replica is killed with its insert stored. */
  kills?: true;
};

const rounds: Round[] = [
  { name: 'both at once', faults: [[], []] },
  { name: 'a reply is lost', faults: [['lose reply'], []] },
  { name: 'a request is lost', faults: [['lose request'], []] },
  { name: 'both replies are lost', faults: [['lose reply'], ['lose reply']] },
  { name: 'a reply never comes', faults: [['swallow reply'], []] },
  { name: 'request and resend are lost', faults: [['lose request', 'lose request'], ['lose reply']] },
  { name: 'an insert lands late', faults: [[], []], holds: true },
  { name: 'a replica is killed', faults: [['swallow reply'], []], kills: true },
];

test('two clients contend for one id: each round is a path of the storage model, and with another answer none', async () => {
  const { system, database, url } = await started(ownDatabase());
  const proxies = [await proxied(url), await proxied(url)] as const;
  const start = (client: 0 | 1) => system.start(`api-${client}`, proxies[client].url);
  const replicas = await Promise.all([start(0), start(1)]);

  for (const { name, faults, holds, kills } of rounds) {
    const id = freshId();
    const first = system.recorded().length;
    for (const client of [0, 1] as const) proxies[client].plan('insert', ...faults[client]);
    const insert = holds && proxies[0].hold({ command: 'insert', collection: 'plants', at: 'request' });
    const killing = kills && killWhenStored(id);
    await Promise.all(([0, 1] as const).map((client) => contend(client, id, () => insert?.release())));
    await killing;

    const recorded = system.recorded().slice(first);
    const stored = await database.collection<{ _id: bigint; name: string }>('plants').findOne({ _id: id });
    const model = storageModel();
    const replayStorage = (trace: readonly Recorded[]) =>
      replay(model, storageTrace(trace, id), {
        isHidden: (label) =>
          /^(?:a majority has it|a late insert of \d lands|an insert of \d is lost|the old primary steps down)$/.test(
            label,
          ),
        isEnd: (state: StorageState) =>
          state.stored?.majority === true &&
          `client ${state.stored.by}` === stored?.name &&
          model.done(state),
      });
    expect(replayStorage(recorded), name).toEqual(allowed);
    for (const [what, altered] of withWrongVerdicts(recorded)) {
      expect(replayStorage(altered), `${name}: ${what}`).toMatchObject({ allowed: false });
    }
  }

  /** Sends until there is a verdict, as a client with a key does. */
  async function contend(client: 0 | 1, id: bigint, onAnswer: () => void): Promise<void> {
    await waitFor(
      async () => {
        const { url } = replicas[client] as { url: string };
        system.note({ kind: 'client sends', client });
        const answer = await create(url, `client ${client}`, id);
        if (answer === undefined) {
          await waitFor(() => replicas[client]?.url !== url, {
            withinMs: 20_000,
            what: 'the replica is back',
          });
          return false;
        }
        system.note({ kind: 'client is answered', client, answer });
        onAnswer();
        return answer < 5000;
      },
      { withinMs: 30_000, what: 'a verdict' },
    );
  }

  async function killWhenStored(id: bigint): Promise<void> {
    await waitFor(() => database.collection<{ _id: bigint }>('plants').countDocuments({ _id: id }), {
      withinMs: 20_000,
      what: 'the plant is stored',
    });
    await system.kill('api-0');
    replicas[0] = await start(0);
  }
});

/** The recording with each verdict in turn replaced by each other answer. */
function* withWrongVerdicts(recorded: readonly Recorded[]): Iterable<[string, Recorded[]]> {
  for (const [at, step] of recorded.entries()) {
    if (step.kind !== 'client is answered' || step.answer >= 5000) continue;
    for (const answer of [200, 1002, 1003, 5001, 5002]) {
      if (answer === step.answer) continue;
      const what = `client ${step.client} is answered ${answer} instead of ${step.answer}`;
      yield [what, recorded.with(at, { ...step, answer })];
    }
  }
}

const anyEnd = { isHidden: () => false, isEnd: () => true };

test('an answer of 200 for a plant that nobody stored is no path of the storage model', () => {
  const sent: Recorded = { who: 'test', kind: 'client sends', client: 0 };
  const answered: Recorded = { who: 'test', kind: 'client is answered', client: 0, answer: 200 };
  expect(replay(storageModel(), storageTrace([sent], 1n), anyEnd)).toEqual(allowed);
  expect(replay(storageModel(), storageTrace([sent, answered], 1n), anyEnd)).toMatchObject({
    allowed: false,
    due: ['0 is acknowledged, 200'],
  });
});

test('a worker whose block was refused, since a part of it is sealed, seals the rest and clears all', () => {
  const labels = [
    'plant 0 is inserted by commit 0',
    'a majority has the insert',
    'job 0 is published',
    'w0 takes 0',
    'w0 reads [0]',
    'w0 indexes',
    'a majority has the index',
    'w0 has indexed',
    'w0 sends block 1 [0]',
    'job 0 stalls, waits again',
    'plant 1 is inserted by commit 0',
    'a majority has the insert',
    'w1 takes 0',
    'w1 reads [0,1]',
    'w1 indexes',
    'a majority has the index',
    'w1 has indexed',
    'w1 sends block 1 [0,1]',
    'block 1 of w0 lands',
    'a majority has the block',
    'block 1 of w1 is refused',
    'w1 sees its block refused',
    'w1 finds [1] not audited',
    'w1 sends block 2 [1]',
    'block 2 of w1 lands',
    'a majority has the block',
    'w1 has sealed',
    'w1 clears',
  ];
  const model = eventsModel({ homes: [[0], [0]], interchangeable: false });
  expect(replay(model, inTurn(labels), anyEnd)).toEqual(allowed);
});

const inTurn = (labels: readonly string[]): TracedStep[] =>
  labels.map((label, at) => ({ lane: 'all', labels: [label], from: at, to: at, required: true }));

test('a trace that leads through a state with a broken invariant is refused, wherever it ends', () => {
  const labels = ['client 0 sends', '0 inserts, 200', 'failover, rolled back', 'client 1 sends'];
  const steps = inTurn(labels);
  const model = storageModel({ writeConcern: 'w:1' });
  expect(replay(model, steps.slice(0, 2), anyEnd)).toEqual(allowed);
  expect(replay(model, steps, anyEnd)).toMatchObject({ allowed: false, line: 2, broken: 'S1' });
});
