import { setTimeout as sleep } from 'node:timers/promises';
import type { PlantDocument } from '@plant-store/contracts/plant-document';
import type { Fault } from '../../harness/network/mongo-proxy.ts';
import {
  failCommands,
  resumeReplication,
  roles,
  stopApplying,
  stopFailing,
  stopReplication,
  term,
  untilElected,
} from '../faults/database.ts';
import { anyReaches, holdAll, reachedBy } from '../faults/steps.ts';
import type { Member } from '../system/database.ts';
import type { Service } from '../system/service.ts';
import type { Row, Run } from './row.ts';

const THREE = { database: 'three members' } as const;
/** In this time under load the primary gets writes that no other member has. */
const APART_MS = 700;
const API = 'plant-store-api';
const WORKER = 'plant-store-worker';

export const databaseRows: readonly Row[] = [
  {
    row: '15',
    title: 'single mongod kill -9, restarted',
    moment: 'under load',
    isPairable: true,
    fault: async ({ system, random, pause }) => {
      const [mongod] = system.database.members as [Member];
      await mongod.kill();
      await pause(random.between(0, 2_000));
      await mongod.start();
    },
  },
  {
    row: '16',
    title: 'primary of three kill -9',
    moment: 'under load, with writes that no other member has',
    topology: THREE,
    fault: async (run) => {
      const { primary, secondaries } = await roles(run.system);
      await stopReplication(secondaries);
      await run.pause(APART_MS);
      await primary.kill();
      await resumeReplication(secondaries);
      await untilElected(secondaries);
      await primary.start();
      await run.system.database.writable();
    },
  },
  {
    row: '16b',
    title: 'primary of three kill -9',
    moment: 'while a worker is behind its read, its index entry, its block',
    topology: THREE,
    fault: async (run) => {
      const steps = [
        { command: 'find', collection: 'plants' },
        { command: 'insert', collection: 'plant_search' },
        { command: 'insert', collection: 'audit_blocks' },
      ];
      for (const step of steps) {
        const { held } = await anyReaches([run.system.workers[0] as Service], { ...step, at: 'reply' });
        await failover(run);
        held.release();
      }
    },
  },
  {
    row: '16c',
    title: 'all of three kill -9, the primary back last',
    moment: 'with an audit block that only the primary has, read again by its worker',
    // Anchors read blocks as well, and would be taken for the worker.
    topology: { ...THREE, workers: 1, worker: { AUDIT_ANCHOR_INTERVAL_MS: '3600000' } },
    fault: async (run) => {
      const worker = run.system.workers[0] as Service;
      const block = { command: 'insert', collection: 'audit_blocks' } as const;
      const { held } = await anyReaches([worker], { ...block, at: 'request' });
      const { primary, secondaries } = await roles(run.system);
      await stopApplying(secondaries);
      const readAgain = worker.hold({ command: 'find', collection: 'audit_blocks', at: 'reply' });
      held.release();
      // A majority read waits here in vain; a local one would take the block for sealed.
      await Promise.race([readAgain.reached, sleep(8_000)]);
      await Promise.all(run.system.database.members.map((member) => member.kill()));
      await Promise.all(secondaries.map((member) => member.start()));
      await untilElected(secondaries);
      readAgain.release();
      await run.pause(1_500);
      await primary.start();
      await run.system.database.writable();
    },
  },
  {
    row: '17',
    title: 'primary of three stopped 25 s',
    moment: 'under load',
    topology: THREE,
    fault: async ({ system, pause }) => {
      const primary = await system.database.primary();
      primary.signal('SIGSTOP');
      await pause(8_000, 25_000);
      primary.signal('SIGCONT');
      await system.database.writable();
    },
  },
  {
    row: '18',
    title: 'single mongod stopped 10 s',
    moment: 'inserts in flight: late landing',
    isPairable: true,
    fault: async ({ system, pause }) => {
      const [mongod] = system.database.members as [Member];
      mongod.signal('SIGSTOP');
      await pause(6_000, 10_000);
      mongod.signal('SIGCONT');
    },
  },
  {
    row: '18b',
    title: 'inserts held in the network',
    moment: 'they land when the job of their commit is completed',
    fault: async ({ system, random }) => {
      const replica = random.pick(system.replicas);
      for (let round = 0; round < 2; round++) {
        const inserts = holdAll(replica, { command: 'insert', collection: 'plants', at: 'request' });
        await reachedBy(inserts.first, `${replica.name} inserts`);
        // The commit is given up after 2.8 s and published as unknown. First insert and resend both land.
        await sleep(3_600);
        inserts.release();
        await sleep(1_000);
      }
    },
  },
  {
    row: '19',
    title: 'replSetStepDown',
    moment: 'under load',
    topology: THREE,
    fault: async ({ system, pause, fail }) => {
      for (let round = 0; round < 2; round++) {
        const before = await term(system);
        const primary = await system.database.primary();
        await primary.admin({ replSetStepDown: 5, secondaryCatchUpPeriodSecs: 4 }).catch(() => {});
        await pause(1_000);
        await system.database.writable();
        if ((await term(system)) === before) fail(`no primary was elected in round ${round + 1}`);
      }
    },
  },
  {
    row: '20',
    title: 'two of three mongod killed',
    moment: '20 s: no 200',
    topology: THREE,
    fault: async (run) => {
      const { history, system, random } = run;
      const spared = random.pick(system.database.members);
      const killed = system.database.members.filter((member) => member !== spared);
      await Promise.all(killed.map((member) => member.kill()));
      const from = history.now();
      await run.pause(7_000, 20_000);
      const until = history.now();
      await Promise.all(killed.map((member) => member.start()));
      await system.database.writable();
      const impossible = history.operations.filter(({ attempts }) =>
        attempts.some(
          ({ invokedMs, endedMs, outcome, replayed }) =>
            invokedMs > from && endedMs < until && outcome === 'ok' && replayed !== true,
        ),
      );
      if (impossible.length > 0)
        run.fail('creates were answered 200 without a majority', impossible.slice(0, 3));
    },
  },
  {
    row: '21',
    title: 'reply of the insert dropped once',
    moment: 'random',
    isPairable: true,
    plansInserts: true,
    fault: async (run) => {
      for (let round = 0; round < 6; round++) {
        planInserts(run, 'lose reply');
        await run.pause(run.random.between(100, 700));
      }
    },
  },
  {
    row: '22',
    title: 'reply dropped on the retry as well',
    moment: 'random',
    isPairable: true,
    plansInserts: true,
    fault: async (run) => {
      for (let round = 0; round < 4; round++) {
        planInserts(run, 'lose request', 'lose reply', 'lose reply', 'lose request');
        await run.pause(run.random.between(500, 1_500));
      }
    },
  },
  {
    row: '23',
    title: 'reply dropped, then unreachable',
    moment: 'random',
    isPairable: true,
    plansInserts: true,
    fault: async (run) => {
      planInserts(run, 'lose reply, then refuse');
      await run.pause(6_000);
      for (const { database } of run.system.replicas) {
        for (const proxy of database.proxies) {
          proxy.plan('insert');
          proxy.refuse();
          await proxy.accept();
        }
      }
    },
  },
  {
    row: '23b',
    title: 'insert held in the network, then unreachable',
    moment: 'read as absent, its resend finds no server; then it lands',
    load: { duplicates: 0 },
    fault: async ({ system, random }) => {
      const replica = random.pick(system.replicas);
      for (let round = 0; round < 2; round++) {
        const inserts = holdAll(replica, { command: 'insert', collection: 'plants', at: 'request' });
        await reachedBy(inserts.first, `${replica.name} inserts`);
        // A commit is given up after 1.5 s, and read.
        const read = replica.hold({ command: 'find', collection: 'plants', at: 'reply' });
        await reachedBy(read, `${replica.name} reads what it could not insert`);
        for (const proxy of replica.database.proxies) proxy.refuse();
        // Until the replica has noticed: with a connection left, it would send once more. Its readiness follows too late:
        // with less than 1 s left, the resend is given up before it has found that there is no server.
        await sleep(50);
        read.release();
        // The resend gets 1.2 s, and looks for a server for 1 s of it.
        await sleep(2_000);
        inserts.release();
        for (const proxy of replica.database.proxies) await proxy.accept();
        await sleep(1_000);
      }
    },
  },
  {
    row: '24',
    title: 'write concern error with a duplicate in the same commit',
    moment: 'failCommand',
    load: { duplicates: 0.3, thinkMs: 20 },
    fault: async (run) => {
      const [mongod] = run.system.database.members as [Member];
      const writeConcernError = { code: 64, errmsg: 'waiting for replication timed out' };
      const earlier = new Set(sentInserts(run).map(({ commit }) => commit));
      for (let round = 0; round < 4; round++) {
        await failCommands(mongod, { commands: ['insert'], client: API, times: 10, writeConcernError });
        await run.pause(700);
        if ((await stopFailing(mongod)) === 0) run.fail(`no insert failed in round ${round + 1}`);
      }
      const sent = sentInserts(run);
      const commitsOf = Map.groupBy(
        sent.flatMap(({ commit, ids }) => ids.map((id) => ({ commit, id }))),
        ({ id }) => id,
      );
      const isDuplicate = (id: bigint) => new Set(commitsOf.get(id)?.map(({ commit }) => commit)).size > 1;
      const isMixed = sent.some(
        ({ commit, ids }) => !earlier.has(commit) && ids.some(isDuplicate) && !ids.every(isDuplicate),
      );
      if (!isMixed) run.fail('no commit held a duplicate beside another plant');
    },
  },
  {
    row: '24b',
    title: 'a real write concern error: the primary steps down and dies',
    moment: 'with inserts that wait for a majority',
    topology: THREE,
    fault: async (run) => {
      const { primary, secondaries } = await roles(run.system);
      await stopReplication(secondaries);
      await run.pause(APART_MS);
      const force = { replSetStepDown: 10, secondaryCatchUpPeriodSecs: 0, force: true };
      await primary.admin(force).catch(() => {});
      await run.pause(100);
      await primary.kill();
      await resumeReplication(secondaries);
      await untilElected(secondaries);
      await primary.start();
      await run.system.database.writable();
    },
  },
  {
    row: '25',
    title: 'errors 91, 189, 11602, 10107',
    moment: 'failCommand, in the API and in the workers',
    fault: async ({ system, pause, fail }) => {
      const [mongod] = system.database.members as [Member];
      for (const errorCode of [91, 189, 11602, 10107]) {
        await failCommands(mongod, { commands: ['insert'], client: API, times: 3, errorCode });
        await pause(800);
        if ((await stopFailing(mongod)) === 0) fail(`no command of the API failed with ${errorCode}`);
        const commands = ['insert', 'find', 'update', 'aggregate'];
        await failCommands(mongod, { commands, client: WORKER, times: 4, errorCode });
        await pause(800);
        if ((await stopFailing(mongod)) === 0) fail(`no command of the workers failed with ${errorCode}`);
      }
    },
  },
  {
    row: '26',
    title: 'errors that must not be retried',
    moment: 'failCommand: each commit is sent twice at most',
    fault: async (run) => {
      const { system, pause } = run;
      const [mongod] = system.database.members as [Member];
      for (const errorCode of [2, 13, 121, 10334]) {
        await failCommands(mongod, { commands: ['insert'], client: API, times: 4, errorCode });
        await pause(1_000);
        if ((await stopFailing(mongod)) === 0) run.fail(`no insert failed with ${errorCode}`);
      }
      const sends = Map.groupBy(sentInserts(run), ({ commit }) => commit);
      if (sends.size === 0) run.fail('no commit was sent');
      const most = Math.max(0, ...[...sends.values()].map(({ length }) => length));
      if (most > 2) run.fail(`a commit was sent ${most} times`);
    },
  },
  {
    row: '27',
    title: 'connection pool exhausted by a slow server',
    moment: 'proxy: every message takes 1.2 s',
    isPairable: true,
    load: { connections: 40, thinkMs: 40 },
    fault: async ({ system, pause }) => {
      const proxies = system.replicas.flatMap(({ database }) => database.proxies);
      for (const proxy of proxies) proxy.delay(1_200);
      await pause(6_000);
      for (const proxy of proxies) proxy.delay(0);
    },
  },
  {
    row: '28',
    title: "mongod's disk full",
    moment: 'tmpfs; mongod is restarted when there is room again',
    topology: { database: 'small disk' },
    fault: async (run) => {
      const { system, pause, history } = run;
      const [mongod] = system.database.members as [Member];
      const from = history.now();
      await system.database.disk?.fillDisk();
      // The journal has room of its own for a while; a checkpoint writes the data files.
      await mongod.admin({ fsync: 1 }).catch(() => {});
      await pause(5_000);
      const isDisturbed = history.operations.some(({ attempts }) =>
        attempts.some(({ invokedMs, answer }) => invokedMs > from && !/^(?:{|400)/.test(answer)),
      );
      if (!isDisturbed) run.fail('the full disk disturbed nothing');
      await system.database.disk?.freeDisk();
      await mongod.kill();
      await mongod.start();
    },
  },
];

/** The inserts of plants that the replicas have sent so far. */
function sentInserts({ system }: Run): { commit: string; ids: bigint[] }[] {
  return system.replicas
    .flatMap(({ database }) => database.proxies)
    .flatMap((proxy) => proxy.seen('insert'))
    .filter(({ collection }) => collection === 'plants')
    .map(({ body }) => {
      const documents = body['documents'] as PlantDocument[];
      return { commit: String(documents[0]?.commit), ids: documents.map(({ _id }) => BigInt(_id)) };
    });
}

function planInserts({ system }: Run, ...faults: readonly Fault[]): void {
  for (const { database } of system.replicas) {
    for (const proxy of database.proxies) proxy.plan('insert', ...faults);
  }
}

/** The primary dies with what no other member has, another is elected, and it comes back. */
async function failover({ system, pause }: Run): Promise<void> {
  const { primary, secondaries } = await roles(system);
  await stopReplication(secondaries);
  await pause(APART_MS);
  await primary.kill();
  await resumeReplication(secondaries);
  await untilElected(secondaries);
  await primary.start();
  await system.database.writable();
}
