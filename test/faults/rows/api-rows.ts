import { blockEventLoop, restart } from '../faults/processes.ts';
import { killAt, reachedBy } from '../faults/steps.ts';
import type { Row } from './row.ts';

const INSERT = { command: 'insert', collection: 'plants' } as const;

export const apiRows: readonly Row[] = [
  {
    row: '1',
    title: 'API kill -9',
    moment: 'under load',
    isPairable: true,
    fault: async (run) => {
      const replica = run.random.pick(run.system.replicas);
      await replica.kill();
      await restart(replica, run);
    },
  },
  {
    row: '2',
    title: 'API killed',
    moment: 'between the acknowledgement of the commit and the job',
    fault: async (run) => {
      for (const replica of run.system.replicas) {
        const held = replica.redis.holdScript('request');
        await reachedBy(held, `the publication of ${replica.name}`);
        await replica.kill();
        held.lose();
        await restart(replica, run);
      }
    },
  },
  {
    row: '2b',
    title: 'API killed',
    moment: 'before the insert, and between the insert and its reply',
    fault: async (run) => {
      for (const at of ['request', 'reply', 'request', 'reply'] as const) {
        await restart(await killAt(run.system.replicas, { ...INSERT, at }), run);
      }
    },
  },
  {
    row: '3',
    title: 'API killed',
    moment: 'after the job, before the 200',
    fault: async (run) => {
      for (const replica of run.system.replicas) {
        replica.clients?.holdAnswers();
        const held = replica.redis.holdScript('reply');
        await reachedBy(held, `the job of ${replica.name}`);
        await replica.kill();
        held.lose();
        replica.clients?.releaseAnswers();
        await restart(replica, run);
      }
    },
  },
  {
    row: '4',
    title: 'API stopped 20 s',
    moment: 'under load, through the gateway',
    topology: { gateway: true },
    fault: async ({ system, random, pause }) => {
      const replica = random.pick(system.replicas);
      replica.signal('SIGSTOP');
      await pause(7_000, 20_000);
      replica.signal('SIGCONT');
    },
  },
  {
    row: '5',
    title: 'rolling SIGTERM of all replicas',
    moment: 'under load, through the gateway: no cut request, no unknown',
    topology: { gateway: true },
    fault: async (run) => {
      for (const replica of run.system.replicas) {
        const exit = await replica.stop();
        if (exit !== undefined) run.fail(exit);
        await restart(replica, run);
      }
    },
    expectations: { noFailedAttempt: true },
  },
  {
    row: '6',
    title: 'event loop of the API blocked 3 s',
    moment: 'under load, through the gateway',
    topology: { gateway: true },
    fault: async ({ system, random }) => blockEventLoop(random.pick(system.replicas), 3_000),
  },
  {
    row: '7',
    title: 'all API replicas killed',
    moment: 'under load',
    isPairable: true,
    fault: async (run) => {
      const { replicas } = run.system;
      await Promise.all(replicas.map((replica) => replica.kill()));
      await Promise.all(replicas.map((replica) => restart(replica, run)));
    },
  },
];
