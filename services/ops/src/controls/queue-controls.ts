import type { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { age, count } from '../status/figures.ts';
import { deletePause, readPause, writePause } from './pause-record.ts';

export const CONTROLS = ['pause', 'resume', 'retry', 'drop', 'lift-limits'] as const;
export type ControlName = (typeof CONTROLS)[number];

/** What the person asked for, as the form carries it. */
export type ControlInput = {
  by: string;
  reason: string;
  /** Of a pause. */
  minutes: number;
  /** Of a retry: only failed jobs whose reason contains this; empty for all. */
  matching: string;
};

/** What a control would do now. */
export type ControlPlan = { effect: string; affected: number };
/** What it did, for the audit log. */
type ControlOutcome = { action: string; affected: number; before?: string; after?: string };

export type Control = {
  title: string;
  plan: (input: ControlInput) => Promise<ControlPlan>;
  apply: (input: ControlInput) => Promise<ControlOutcome>;
};

/** Failed jobs that one retry releases at most; the others need another retry. */
const RETRIED_MAX = 10_000;

/** The controls of the queue. None can lose a plant: plants are in MongoDB, and jobs only name their commits. */
export function queueControls(queue: Queue, redis: Redis, prefix: string): Record<ControlName, Control> {
  const waiting = async () => (await queue.getJobCounts('waiting'))['waiting'] ?? 0;

  async function failedMatching({ matching }: ControlInput): Promise<Job[]> {
    const failed = await queue.getJobs(['failed'], 0, RETRIED_MAX - 1, true);
    return failed.filter(({ failedReason = '' }) => failedReason.includes(matching));
  }

  async function pauseState(): Promise<string> {
    if (!(await queue.isPaused())) return 'running';
    const record = await readPause(redis, prefix);
    return record === undefined ? 'paused without end' : `paused until ${record.until.toISOString()}`;
  }

  async function limits(): Promise<string[]> {
    const [concurrency, rate, haltMs] = await Promise.all([
      queue.getGlobalConcurrency(),
      queue.getGlobalRateLimit(),
      queue.getRateLimitTtl(),
    ]);
    return [
      ...(concurrency === null ? [] : [`concurrency ${concurrency}`]),
      ...(rate === null ? [] : [`${rate.max} jobs in ${age(rate.duration)}`]),
      ...(haltMs > 0 ? [`no job for ${age(haltMs)}`] : []),
    ];
  }

  return {
    pause: {
      title: 'Pause the queue',
      async plan({ minutes }) {
        const affected = await waiting();
        return {
          affected,
          effect: `Workers take no further job for ${age(minutes * 60_000)}; ${count(affected)} wait now. Plants are created as usual, and are indexed and audited afterwards. The queue resumes by itself.`,
        };
      },
      async apply({ by, reason, minutes }) {
        const [before, affected] = await Promise.all([pauseState(), waiting()]);
        const until = new Date(Date.now() + minutes * 60_000);
        await writePause(redis, prefix, { by, reason, until });
        await queue.pause();
        return { action: 'paused', affected, before, after: await pauseState() };
      },
    },
    resume: {
      title: 'Resume the queue',
      async plan() {
        const affected = await waiting();
        return { affected, effect: `Workers take jobs again; ${count(affected)} wait now.` };
      },
      async apply() {
        const [before, affected] = await Promise.all([pauseState(), waiting()]);
        await queue.resume();
        await deletePause(redis, prefix);
        return { action: 'resumed', affected, before, after: await pauseState() };
      },
    },
    retry: {
      title: 'Retry failed jobs',
      async plan(input) {
        const affected = (await failedMatching(input)).length;
        const which = input.matching === '' ? '' : ` whose reason contains “${input.matching}”`;
        return { affected, effect: `${count(affected)} failed jobs${which} are taken again at once.` };
      },
      async apply(input) {
        const jobs = await failedMatching(input);
        const retried = await Promise.allSettled(jobs.map((job) => job.retry('failed')));
        const affected = retried.filter(({ status }) => status === 'fulfilled').length;
        return {
          action: 'retried',
          affected,
          ...(input.matching !== '' && { before: `failed: ${input.matching}` }),
        };
      },
    },
    drop: {
      title: 'Drop waiting jobs',
      async plan() {
        const affected = await waiting();
        return {
          affected,
          effect: `${count(affected)} waiting jobs are removed from Redis. Their plants stay pending in MongoDB, and the relay publishes them again within some seconds.`,
        };
      },
      async apply() {
        const affected = await waiting();
        await queue.drain();
        return {
          action: 'dropped',
          affected,
          before: `${affected} waiting`,
          after: `${await waiting()} waiting`,
        };
      },
    },
    'lift-limits': {
      title: 'Lift limits',
      async plan() {
        const found = await limits();
        return {
          affected: found.length,
          effect: found.length === 0 ? 'No limit is set.' : `Lifted are: ${found.join(', ')}.`,
        };
      },
      async apply() {
        const before = await limits();
        await queue.removeGlobalConcurrency();
        await queue.removeGlobalRateLimit();
        await queue.removeRateLimitKey();
        return {
          action: 'limits lifted',
          affected: before.length,
          before: before.join(', '),
          after: (await limits()).join(', '),
        };
      },
    },
  };
}
