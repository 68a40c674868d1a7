import { Counter, Gauge, type Registry } from 'prom-client';
import { FINDING_IDS } from './findings/diagnose.ts';
import type { Monitor } from './monitor/monitor.ts';
import { JOB_STATES } from './status/reading/queue-status.ts';
import type { SystemStatus } from './status/status.ts';

export type OpsMetrics = {
  signIns: Counter<'outcome'>;
  actions: Counter<'action' | 'outcome'>;
};

/** What people do in the console. */
export function createOpsMetrics(registry: Registry): OpsMetrics {
  const signIns = new Counter({
    name: 'plants_ops_sign_ins_total',
    help: 'Attempts to sign in to the console, by outcome: accepted, refused, throttled.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['accepted', 'refused', 'throttled']) signIns.inc({ outcome }, 0);
  return {
    signIns,
    actions: new Counter({
      name: 'plants_ops_actions_total',
      help: 'Actions of operators through the console, by action and outcome: done, failed, refused.',
      labelNames: ['action', 'outcome'],
      registers: [registry],
    }),
  };
}

/**
 * The state of the system as the console sees it: once per system, also when no worker runs, and read at each scrape. A
 * figure that cannot be read is NaN, never an old figure or a misleading zero; the two `_up` gauges show which server
 * does not answer.
 */
export function registerStatusMetrics(registry: Registry, monitor: Monitor): void {
  const readStatus = async () => (await monitor.current()).status;

  function gauge(name: string, help: string, read: (status: SystemStatus) => number | undefined): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(read(await readStatus()) ?? Number.NaN);
      },
    });
  }

  new Gauge({
    name: 'plants_ops_findings',
    help: 'What the console finds wrong: how many of each kind; 0 where nothing is.',
    labelNames: ['finding'],
    registers: [registry],
    async collect() {
      const { findings } = await monitor.current();
      for (const id of FINDING_IDS)
        this.set({ finding: id }, findings.filter((found) => found.id === id).length);
    },
  });
  gauge('plants_ops_mongodb_up', 'Whether a primary of MongoDB answers: 1 or 0.', ({ database }) =>
    database === undefined ? 0 : 1,
  );
  gauge('plants_ops_redis_up', 'Whether Redis answers: 1 or 0.', ({ queue }) =>
    queue === undefined ? 0 : 1,
  );
  new Gauge({
    name: 'plants_ops_queue_jobs',
    help: 'Jobs on the queue of creations, by state.',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const { queue } = await readStatus();
      for (const state of JOB_STATES) this.set({ state }, queue?.[state] ?? Number.NaN);
    },
  });
  gauge(
    'plants_ops_queue_oldest_waiting_seconds',
    'Age of the oldest waiting job; 0 when none waits.',
    (status) => seconds(status.queue?.oldestWaitingMs),
  );
  gauge('plants_ops_queue_workers', 'Workers connected to the queue.', ({ queue }) => queue?.connections);
  gauge('plants_ops_queue_paused', 'Whether the queue is paused: 1 or 0.', ({ queue }) =>
    queue === undefined ? undefined : Number(queue.paused),
  );
  gauge(
    'plants_ops_plants_stored',
    'Plants stored, as the database estimates.',
    ({ database }) => database?.plants,
  );
  gauge(
    'plants_ops_plants_pending',
    'Plants not yet indexed and audited, without those of failed jobs; approximate beyond 10000.',
    ({ database }) => database?.backlog.plants,
  );
  gauge('plants_ops_plants_pending_oldest_seconds', 'Age of the oldest of them; 0 when none is.', (status) =>
    seconds(status.database?.backlog.oldestMs),
  );
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}
