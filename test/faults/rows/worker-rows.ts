import { Binary, type Document, Int32, ObjectId } from 'mongodb';
import { waitFor } from '../../harness/wait-for.ts';
import { blockEventLoop, expireLocks, restart } from '../faults/processes.ts';
import { anyReaches, holdAll, killAt, reachedBy } from '../faults/steps.ts';
import type { Service } from '../system/service.ts';
import type { Row, Run } from './row.ts';

/** The steps of a batch as commands, and the anchor beside them. */
const STEPS = {
  read: { command: 'find', collection: 'plants' },
  index: { command: 'insert', collection: 'plant_search' },
  block: { command: 'insert', collection: 'audit_blocks' },
  clear: { command: 'update', collection: 'plants' },
  anchor: { command: 'insert', collection: 'audit_anchors' },
} as const;

/** One worker, so that only what it did itself and what its successor makes of it counts. */
const ONE_WORKER = { workers: 1 } as const;
/** A stalled job fails once it has stalled more often than this (bullmq-creation-worker.ts). */
const STALLS_MAX = 3;
/** The lock of a job, two checks for stalled ones and room for a busy machine. */
const TAKEN_OVER_MS_MAX = 30_000;

/** Its successor takes its jobs over as soon as their locks are gone. */
async function succeed(run: Run, killed: Service): Promise<void> {
  await expireLocks(run);
  await restart(killed, run);
}

export const workerRows: readonly Row[] = [
  {
    row: '8',
    title: 'worker kill -9',
    moment: 'before its effect',
    topology: ONE_WORKER,
    fault: async (run) => {
      const killed = await killAt(run.system.workers, { ...STEPS.index, at: 'request' });
      await succeed(run, killed);
    },
  },
  {
    row: '8b',
    title: 'worker kill -9',
    moment: 'before and after each step: read, index, block, clear, anchor',
    topology: ONE_WORKER,
    fault: async (run) => {
      for (const step of Object.values(STEPS)) {
        for (const at of ['request', 'reply'] as const) {
          await succeed(run, await killAt(run.system.workers, { ...step, at }));
        }
      }
    },
  },
  {
    row: '9',
    title: 'worker kill -9',
    moment: 'after the audit block, before the clear',
    topology: ONE_WORKER,
    fault: async (run) => {
      const killed = await killAt(run.system.workers, { ...STEPS.clear, at: 'request' });
      await succeed(run, killed);
    },
  },
  {
    row: '10',
    title: 'worker killed on the same job until it fails',
    moment: 'active, more often than a job may stall',
    // All jobs that wait are active at once, so that the worker takes the stalled one as well.
    topology: { ...ONE_WORKER, worker: { WORKER_CONCURRENCY: '1000' } },
    load: { connections: 4, thinkMs: 150 },
    fault: async (run) => {
      const [worker] = run.system.workers as [Service];
      const { queue, redis } = run.system;
      let lock: string | undefined;
      for (let kill = 0; kill <= STALLS_MAX; kill++) {
        const reads = holdAll(worker, { ...STEPS.read, at: 'request' });
        await reachedBy(reads.first, `${worker.name} reads`);
        lock ??= `${queue.toKey((await queue.getActive())[0]?.id ?? '')}:lock`;
        const ofJob = lock;
        await waitFor(async () => (await redis.exists(ofJob)) === 1, {
          withinMs: TAKEN_OVER_MS_MAX,
          what: 'the job is active again',
        });
        await worker.kill();
        reads.release();
        await expireLocks(run);
        await worker.start();
      }
      // The relay retries no job but a failed one.
      await waitFor(async () => ((await worker.program()?.metric('plants_relay_retried_total')) ?? 0) > 0, {
        withinMs: TAKEN_OVER_MS_MAX,
        what: 'the job that stalled too often has failed, and is retried',
      });
    },
  },
  {
    row: '10b',
    title: 'jobs that failed with nothing pending',
    moment: 'after their plants were processed',
    fault: async ({ system, random }) => {
      const { queue, redis } = system;
      // What a job that stalled too often looks like when another worker has processed its plants.
      for (let index = 0; index < 5; index++) {
        const id = `commit-${new ObjectId().toHexString()}`;
        const data = JSON.stringify({ version: 2, commits: [{ commit: id.slice(7), plants: 1 }] });
        const opts = JSON.stringify({ removeOnComplete: true, removeOnFail: false, attempts: 1 });
        const failedReason = 'job stalled more than allowable limit';
        const job = { name: 'plants.created', data, opts, timestamp: Date.now(), delay: 0, priority: 0 };
        await redis.hset(queue.toKey(id), { ...job, failedReason, atm: random.between(0, 1) });
        await redis.zadd(queue.toKey('failed'), String(Date.now()), id);
      }
    },
  },
  {
    row: '11',
    title: 'worker stopped longer than its lock',
    moment: 'active: another takes over; the first wakes late',
    fault: async (run) => {
      const { service, held } = await anyReaches(run.system.workers, { ...STEPS.index, at: 'request' });
      service.signal('SIGSTOP');
      await untilTakenOver(run);
      held.release();
      service.signal('SIGCONT');
    },
  },
  {
    row: '12',
    title: "worker's event loop blocked longer than the lock",
    moment: 'active',
    fault: async (run) => {
      const { service, held } = await anyReaches(run.system.workers, { ...STEPS.block, at: 'reply' });
      const blocked = blockEventLoop(service, 14_000);
      await run.pause(200);
      held.release();
      await blocked;
    },
  },
  {
    row: '13',
    title: 'no worker takes a job for 60 s',
    moment: 'backlog, bounded, drained',
    fault: async (run) => {
      const { queue, db } = run.system;
      // The workers live, and their relays see plants that nobody processes.
      await queue.pause();
      await run.pause(8_000, 60_000);
      const waiting = await queue.getWaitingCount();
      const commits = (await db.collection('plants').distinct('commit', { pending: true })).length;
      if (waiting === 0) run.fail('no job waits');
      if (waiting > commits) run.fail(`${waiting} jobs wait for ${commits} commits`);
      await queue.resume();
    },
  },
  {
    row: '14',
    title: 'a poison plant',
    moment: 'one id, in a commit with others',
    fault: async (run) => {
      await storePoison(run, { commits: 1, good: 2 });
      await run.pause(5_000);
    },
    expectations: {
      finally: async (run) => {
        const [poison] = run.poison;
        // It is tried again now and then.
        await waitFor(
          async () => {
            const failed = await run.system.queue.getFailed();
            if (failed.length === 1 && failed[0]?.failedReason.includes(String(poison))) return true;
            throw new Error(`failed jobs: ${JSON.stringify(failed.map(({ failedReason }) => failedReason))}`);
          },
          { withinMs: 10_000, what: `one job has failed, and its reason names poison plant ${poison}` },
        ).catch((error: Error) => run.fail(error.message));
      },
    },
  },
  {
    row: '14b',
    title: 'a thousand poison commits in front of two thousand pending ones',
    moment: 'the relay has to publish all of them',
    fault: async (run) => {
      const { workers } = run.system;
      await Promise.all(workers.map((worker) => worker.stop()));
      await storePoison(run, { commits: 1_000, good: 0 });
      await storePending(run, 2_000);
      await Promise.all(workers.map((worker) => worker.start()));
      await waitFor(
        async () => {
          const good = { pending: true, _id: { $nin: [...run.poison] } } as object;
          return (await run.system.db.collection('plants').countDocuments(good)) < 500;
        },
        { withinMs: 60_000, what: 'the pending plants behind the poison are processed' },
      );
    },
  },
  {
    row: '41',
    title: 'two sealers on one audit chain',
    moment: 'forced: one is held at its block until the other has sealed its own',
    topology: { worker: { AUDIT_CHAINS: '1' } },
    fault: async ({ system }) => {
      const [first] = system.workers as [Service, Service];
      const blocks = system.db.collection('audit_blocks');
      const height = async () => (await blocks.findOne({}, { sort: { height: -1 } }))?.['height'] ?? 0;
      for (let round = 0; round < 5; round++) {
        const held = first.hold({ ...STEPS.block, at: 'request' });
        await reachedBy(held, `${first.name} seals a block`);
        const before = await height();
        await waitFor(async () => (await height()) > before, {
          withinMs: 10_000,
          what: 'another worker seals at that height',
        });
        held.release();
      }
    },
  },
];

/** Waits until jobs of the stopped worker are active elsewhere: nothing is pending but what is new. */
async function untilTakenOver({ system }: Run): Promise<void> {
  const plants = system.db.collection('plants');
  const pending = await plants.find({ pending: true }, { projection: { _id: 1 } }).toArray();
  const ids = pending.map(({ _id }) => _id);
  await waitFor(
    async () => (await plants.countDocuments({ _id: { $in: ids }, pending: true } as Document)) === 0,
    { withinMs: TAKEN_OVER_MS_MAX, what: "another worker processes the stopped worker's plants" },
  );
}

/** Ids that no operation of the load wants. */
let nextId = 4_000_000_000_000_000_000n;

function document(commit: ObjectId, fields: Document = {}): Document {
  nextId += 1n;
  return {
    _id: nextId,
    name: `stored without a client ${nextId}`,
    created: new Date(),
    commit,
    pending: true,
    by: { sub: 'gardener' },
    from: { address: '192.0.2.7', request: `request-${nextId}`, requestBy: 'gateway', instance: 'api-1' },
    key: Binary.createFromHexString('00'.repeat(32)),
    ...fields,
  };
}

/** Commits that nobody published, each with one plant whose name is no text and `good` others. They sort in front. */
async function storePoison(run: Run, { commits, good }: { commits: number; good: number }): Promise<void> {
  const documents: Document[] = [];
  for (let index = 1; index <= commits; index++) {
    const commit = new ObjectId(index.toString(16).padStart(24, '0'));
    const poison = document(commit, { name: new Int32(7) });
    run.poison.add(poison['_id'] as bigint);
    documents.push(poison);
    for (let other = 0; other < good; other++) documents.push(document(commit));
  }
  await store(run, documents);
}

async function storePending(run: Run, commits: number): Promise<void> {
  await store(
    run,
    Array.from({ length: commits }, () => document(new ObjectId())),
  );
}

async function store({ system }: Run, documents: Document[]): Promise<void> {
  await system.db.collection('plants').insertMany(documents, { writeConcern: { w: 'majority' } });
}
