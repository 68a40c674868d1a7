import { readGauge, readGauges, serverMetrics } from '@plant-store/platform/process/metrics';
import { Counter, type Registry } from 'prom-client';
import { CONTROLS } from './controls/control.ts';
import { FINDING_IDS } from './findings/diagnose.ts';
import type { Monitor } from './monitor/monitor.ts';
import { JOB_STATES } from './status/reading/queue-status.ts';
import type { SystemStatus } from './status/status.ts';

export type OpsMetrics = {
  signIns: Counter<'outcome'>;
  actions: Counter<'action' | 'outcome'>;
};

/** What people do in the console. Counters exist with 0 from the start, so that the first event shows as an increase. */
export function createOpsMetrics(registry: Registry): OpsMetrics {
  const signIns = new Counter({
    name: 'plants_ops_sign_ins_total',
    help: 'Attempts to sign in to the console, by outcome: accepted, refused, throttled.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['accepted', 'refused', 'throttled']) signIns.inc({ outcome }, 0);
  const actions = new Counter({
    name: 'plants_ops_actions_total',
    help: 'Actions of operators through the console, by action and outcome: done, failed, refused.',
    labelNames: ['action', 'outcome'],
    registers: [registry],
  });
  for (const action of CONTROLS)
    for (const outcome of ['done', 'failed', 'refused']) actions.inc({ action, outcome }, 0);
  return { signIns, actions };
}

/**
 * The state of the system as the console sees it: once per system, also when no worker runs, and read at each scrape. A
 * figure that cannot be read has no sample: an old figure or a zero would mislead. The two `_up` gauges show which
 * server does not answer.
 */
export function registerStatusMetrics(registry: Registry, monitor: Monitor): void {
  const readStatus = async () => (await monitor.current()).status;
  const gauge = (name: string, help: string, read: (status: SystemStatus) => number | undefined) =>
    readGauge(registry, name, help, async () => read(await readStatus()));

  serverMetrics(registry, {
    mongodb: async () => (await readStatus()).database !== undefined,
    redis: async () => (await readStatus()).queue !== undefined,
  });
  readGauges(
    registry,
    {
      name: 'plants_ops_findings',
      help: 'What the console finds wrong: how many of each kind; 0 where nothing is.',
      label: 'finding',
    },
    async () => {
      const { findings } = await monitor.current();
      return Object.fromEntries(
        FINDING_IDS.map((id) => [id, findings.filter((found) => found.id === id).length]),
      );
    },
  );

  readGauges(
    registry,
    { name: 'plants_queue_jobs', help: 'Jobs on the queue of creations, by state.', label: 'state' },
    async () => {
      const { queue } = await readStatus();
      return queue === undefined ? {} : Object.fromEntries(JOB_STATES.map((state) => [state, queue[state]]));
    },
  );
  gauge(
    'plants_queue_oldest_waiting_seconds',
    'Age of the oldest waiting job, by its publisher’s clock; 0 when none waits.',
    (status) => seconds(status.queue?.oldestWaitingMs),
  );
  gauge('plants_queue_workers', 'Workers connected to the queue.', ({ queue }) => queue?.connections);
  gauge('plants_queue_paused', 'Whether the queue is paused: 1 or 0.', ({ queue }) =>
    queue === undefined ? undefined : Number(queue.paused),
  );
  readGauges(
    registry,
    {
      name: 'plants_queue_limited',
      help: 'Limits that somebody set on the queue from outside: 1 or 0 for rate, concurrency, halted (no job is handed out).',
      label: 'limit',
    },
    async () => {
      const { queue } = await readStatus();
      if (queue === undefined) return {};
      const { rateLimit, concurrency, haltedMs } = queue;
      const limits = { rate: rateLimit, concurrency, halted: haltedMs };
      return Object.fromEntries(
        Object.entries(limits).map(([limit, value]) => [limit, Number(value !== undefined)]),
      );
    },
  );

  gauge('plants_stored', 'Plants stored, as the database estimates.', ({ database }) => database?.plants);
  gauge(
    'plants_pending',
    'Plants not yet indexed and audited, without those of failed jobs; approximate beyond 10000.',
    ({ database }) => database?.backlog.plants,
  );
  gauge('plants_pending_oldest_seconds', 'Age of the oldest of them; 0 when none is.', (status) =>
    seconds(status.database?.backlog.oldestMs),
  );
  gauge(
    'plants_poison_pending',
    'Distinct plants of failed jobs that are pending, since they cannot be processed; at most 10000.',
    ({ database }) => database?.backlog.poison,
  );
  gauge(
    'plants_audit_anchor_age_seconds',
    'Age of the newest audit anchor, by the console’s clock; no sample before the first.',
    (status) => seconds(status.database?.anchorAgeMs),
  );
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}
