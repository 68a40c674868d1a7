import { setTimeout as sleep } from 'node:timers/promises';
import type { LogLine } from '../../harness/processes/program.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { cutTail, flipByte, limitMemory, queueParts, snapshot, startDamaged } from '../faults/redis-data.ts';
import type { Row, Run } from './row.ts';

/** Room for some hundred jobs. */
const BACKLOG_BYTES = 150_000;
/** Room for some ten jobs. */
const EVICTING_BYTES = 10_000;
/** How long a busy machine may take to fill it. */
const EVICTED_MS_MAX = 20_000;

export const redisRows: readonly Row[] = [
  {
    row: '29',
    title: 'Redis kill -9, restarted',
    moment: 'under load',
    isPairable: true,
    fault: async ({ system, random, pause }) => {
      await system.redisServer.kill();
      await pause(random.between(500, 3_000));
      await system.redisServer.start();
    },
    expectations: { undisturbed: true },
  },
  {
    row: '30',
    title: 'Redis down when everything starts',
    moment: 'start',
    topology: { redisDownAtStart: true },
    fault: async ({ system, pause }) => {
      await pause(3_000);
      await system.redisServer.start();
    },
    expectations: { undisturbed: true },
  },
  {
    row: '31',
    title: 'Redis stopped 15 s',
    moment: 'under load',
    isPairable: true,
    fault: async ({ system, pause }) => {
      system.redisServer.signal('SIGSTOP');
      await pause(6_000, 15_000);
      system.redisServer.signal('SIGCONT');
    },
    expectations: { undisturbed: true },
  },
  {
    row: '32',
    title: 'FLUSHALL',
    moment: 'jobs waiting and active',
    isPairable: true,
    fault: async (run) => {
      for (let round = 0; round < 3; round++) {
        await withBacklog(run, async () => void (await run.system.redis.flushall()));
        await run.pause(run.random.between(300, 1_000));
      }
    },
    expectations: { undisturbed: true },
  },
  {
    row: '32b',
    title: "each part of BullMQ's data lost by itself",
    moment: 'list, hash, meta, marker, id without hash, hash without id; jobs waiting and active',
    fault: async (run) => {
      for (const lose of Object.values(queueParts)) {
        await withBacklog(run, () => lose(run.system));
        await run.pause(400);
      }
    },
    expectations: { undisturbed: true },
  },
  {
    row: '33',
    title: 'AOF of two seconds ago restored',
    moment: 'restart',
    fault: async (run) => {
      const { redisServer } = run.system;
      await withBacklog(run, async () => {
        const earlier = await snapshot(redisServer);
        await run.pause(2_000);
        await redisServer.kill();
        await earlier.restore();
        await redisServer.start();
      });
    },
    expectations: { undisturbed: true },
  },
  {
    row: '34',
    title: 'AOF with a cut tail; with a flipped byte',
    moment: 'restart',
    fault: async (run) => {
      const { redisServer } = run.system;
      for (const damage of [cutTail, () => flipByte(redisServer, 0.3 + run.random.next() / 2)]) {
        await withBacklog(run, async () => {
          await redisServer.kill();
          await damage(redisServer);
          run.say(`Redis started ${await startDamaged(redisServer)}`);
        });
      }
    },
    expectations: { undisturbed: true },
  },
  {
    row: '35',
    title: 'Redis out of memory (noeviction)',
    moment: 'backlog',
    fault: async (run) => {
      await withBacklog(run, async () => {
        await limitMemory(run.system, BACKLOG_BYTES);
        await run.pause(3_000);
      });
      await run.pause(2_000);
      const left = await Promise.all(
        run.system.replicas.map((replica) =>
          replica.program()?.metric('plants_publications_total', 'result="left_to_relay"'),
        ),
      );
      if (!left.some(Boolean)) run.fail('Redis refused no job: it was never out of memory');
      await limitMemory(run.system);
    },
    expectations: { undisturbed: true },
  },
  {
    row: '36',
    title: 'wrong eviction policy under pressure',
    moment: 'configuration: alarm, nothing lost',
    topology: { redisArgs: ['--maxmemory-policy', 'allkeys-random'] },
    fault: async (run) => {
      const { redis, workers } = run.system;
      await withBacklog(run, async () => {
        await limitMemory(run.system, EVICTING_BYTES);
        const evicted = async () => Number(/evicted_keys:(\d+)/.exec(await redis.info('stats'))?.[1]) > 0;
        await waitFor(evicted, { withinMs: EVICTED_MS_MAX, what: 'Redis evicts a key' });
        await run.pause(1_000);
      });
      await limitMemory(run.system);
      for (const worker of workers) {
        const isAlarm = ({ msg, fault }: LogLine) =>
          msg === 'redis may drop waiting jobs' && String(fault).includes('maxmemory-policy');
        if (!worker.program()?.log.some(isAlarm)) run.fail(`${worker.name} raises no alarm`);
      }
    },
    expectations: { undisturbed: true },
  },
  {
    row: '37',
    title: 'Redis turned replica (READONLY) and back',
    moment: 'under load',
    isPairable: true,
    fault: async ({ system, pause }) => {
      await system.redis.replicaof('127.0.0.1', 1);
      await pause(5_000);
      await system.redis.replicaof('NO', 'ONE');
    },
    expectations: { undisturbed: true },
  },
  {
    row: '38',
    title: 'all Redis connections killed every second',
    moment: '15 s',
    isPairable: true,
    fault: async ({ system, isWhole, note }) => {
      for (let round = 0; round < (isWhole ? 15 : 7); round++) {
        await system.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        await sleep(1_000);
      }
      if (!isWhole) note('7 s instead of 15 s');
    },
    expectations: { undisturbed: true },
  },
];

/** Stops the workers for a moment, with jobs in their hands, until others wait; the fault happens then. */
async function withBacklog({ system }: Run, disturb: () => Promise<void>): Promise<void> {
  const running = system.workers.filter((worker) => worker.program() !== undefined);
  for (const worker of running) worker.signal('SIGSTOP');
  try {
    await waitFor(async () => (await system.queue.getWaitingCount()) >= 5, {
      withinMs: 8_000,
      what: 'jobs wait',
    }).catch(() => {});
    await disturb();
  } finally {
    for (const worker of running) worker.signal('SIGCONT');
  }
}
