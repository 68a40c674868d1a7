import { creationJob } from '@plant-store/contracts/creation-job';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { commitsOf, failedJobs, retryFailed } from '../failures/failed-jobs.ts';
import type { FailuresReader } from '../failures/read-failures.ts';
import { age, count } from '../status/figures.ts';
import type { Control, ControlInput, ControlPlan, QueueControlName } from './control.ts';
import { deletePause, readPause, writePause } from './pause-record.ts';
import type { ActionOutcome } from './perform.ts';

/** Failed jobs that one retry releases at most; the others need another retry. */
const RETRIED_MAX = 10_000;

/** The controls of the queue. None can lose a plant: plants are in MongoDB, and jobs only name their commits. */
export function queueControls(
  queue: Queue,
  redis: Redis,
  prefix: string,
  failures: Pick<FailuresReader, 'matching' | 'plant'>,
): Record<QueueControlName, Control> {
  const waiting = async () => (await queue.getJobCounts('waiting'))['waiting'] ?? 0;

  /**
   * The ids of the jobs meant. The reason of a job names only some of its plants, so jobs are also found by the plants
   * that cannot be processed.
   */
  async function failedMatching({ matching, plant }: ControlInput): Promise<string[]> {
    const commits = new Set<string | undefined>();
    if (plant !== undefined) commits.add((await failures.plant(plant))?.commit);
    else if (matching !== '') {
      for (const { commit } of (await failures.matching(matching)).plants) commits.add(commit);
    }
    const ids: string[] = [];
    for await (const job of failedJobs(queue, { jobsMax: RETRIED_MAX, oldestFirst: true })) {
      const isMeant =
        (plant === undefined && (matching === '' || job.failedReason?.includes(matching))) ||
        commitsOf(job).some((commit) => commits.has(commit));
      if (isMeant) ids.push(job.id as string);
    }
    return ids;
  }

  /** Of a pending plant no job has to have failed: it may be lost, waiting, or active. */
  async function publicationPlan(plant: bigint): Promise<ControlPlan> {
    const found = await failures.plant(plant);
    if (found?.pending !== true || found.commit === undefined) {
      return { affected: 0, effect: `Nothing: plant ${plant} is not pending, and no failed job names it.` };
    }
    const effect = `No failed job names plant ${plant}: its commit is published again, unless its job waits already.`;
    return { affected: 1, effect };
  }

  async function publishAgain(plant: bigint): Promise<ActionOutcome> {
    const found = await failures.plant(plant);
    if (found?.pending !== true || found.commit === undefined) return { action: 'retried', affected: 0 };
    const { name, data, opts } = creationJob([{ commit: found.commit, plants: 1 }]);
    await queue.add(name, data, opts);
    return { action: 'retried', affected: 1, before: 'pending', after: 'published again' };
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
      needsRedis: true,
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
      needsRedis: true,
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
      needsRedis: true,
      async plan(input) {
        const { plant, matching } = input;
        const affected = (await failedMatching(input)).length;
        if (plant !== undefined && affected === 0) return publicationPlan(plant);
        const which =
          plant !== undefined
            ? ` that ${affected === 1 ? 'names' : 'name'} the commit of plant ${plant}`
            : matching === ''
              ? ''
              : ` whose reason contains “${matching}”`;
        const jobs =
          affected === 1 ? `1 failed job${which} is` : `${count(affected)} failed jobs${which} are`;
        return { affected, effect: `${jobs} taken again at once.` };
      },
      async apply(input) {
        const { plant, matching } = input;
        const jobs = await failedMatching(input);
        if (plant !== undefined && jobs.length === 0) return publishAgain(plant);
        const affected = await retryFailed(queue, jobs);
        return {
          action: 'retried',
          affected,
          ...(matching !== '' && { before: `failed: ${matching}` }),
        };
      },
    },
    drop: {
      title: 'Drop waiting jobs',
      needsRedis: true,
      async plan() {
        const affected = await waiting();
        return {
          affected,
          effect: `${affected === 1 ? '1 waiting job is' : `${count(affected)} waiting jobs are`} removed from Redis. Their plants stay pending in MongoDB, and the relay publishes them again within some seconds.`,
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
      needsRedis: true,
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
