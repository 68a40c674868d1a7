import { creationJob } from '@plant-store/contracts/creation-job';
import { PLANTS, type PlantDocument } from '@plant-store/contracts/plant-document';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Db } from 'mongodb';
import type { Control, ControlInput, PlantControlName } from '../controls/control.ts';
import { count } from '../status/figures.ts';
import { commitsOf, failedJobs, retryFailed } from './failed-jobs.ts';
import type { FailuresReader } from './read-failures.ts';

/** Plants that one action changes at most, so that it ends in time; the others need another. */
const CHANGED_MAX = 1_000;
/** Ids that an audit entry names; each plant's own document has the rest. */
const NAMED_MAX = 50;
const FAILED_JOBS_MAX = 1_000;
const CHANGE_MS_MAX = 2_500;

type Chosen = { id: bigint; commit: string | undefined };

/**
 * Quarantine: sets plants that cannot be processed aside, and takes them back. The pending flag alone changes, so
 * nothing of a plant is lost. Works without Redis: the relay then sees the change within some seconds.
 */
export function plantControls(
  database: Db,
  { queue, redis }: { queue: Queue; redis: Redis },
  failures: FailuresReader,
): Record<PlantControlName, Control> {
  const plants = database.collection<PlantDocument>(PLANTS, {
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: CHANGE_MS_MAX },
  });
  const bounded = { maxTimeMS: CHANGE_MS_MAX };

  async function pending({ plant, matching }: ControlInput): Promise<Chosen[]> {
    if (plant !== undefined) {
      const found = await failures.plant(plant);
      return found?.pending === true ? [{ id: plant, commit: found.commit }] : [];
    }
    if (matching === '') return [];
    const found = await failures.matching(matching);
    return found.plants
      .flatMap(({ id, commit }) => (id === undefined ? [] : [{ id, commit }]))
      .slice(0, CHANGED_MAX);
  }

  async function quarantined({ plant, matching }: ControlInput): Promise<Chosen[]> {
    if (plant !== undefined) {
      const found = await failures.plant(plant);
      return found?.pending === 'quarantined' ? [{ id: plant, commit: found.commit }] : [];
    }
    return matching === '' ? [] : (await failures.quarantinedFor(matching)).slice(0, CHANGED_MAX);
  }

  /** Has the jobs of these commits run at once; without Redis, or after an error, the relay does it later. */
  async function processNow(commits: ReadonlySet<string>): Promise<void> {
    if (redis.status !== 'ready') return;
    const failed: string[] = [];
    const others = new Set(commits);
    for await (const job of failedJobs(queue, { jobsMax: FAILED_JOBS_MAX })) {
      const own = commitsOf(job);
      if (!own.some((commit) => commits.has(commit))) continue;
      failed.push(job.id as string);
      for (const commit of own) others.delete(commit);
    }
    await retryFailed(queue, failed);
    await queue.addBulk([...others].map((commit) => creationJob([{ commit, plants: 1 }])));
  }

  return {
    quarantine: {
      title: 'Quarantine',
      needsRedis: false,
      page: '/failures',
      async plan(input) {
        const affected = (await pending(input)).length;
        return { affected, effect: quarantineEffect(affected, input) };
      },
      async apply(input) {
        const chosen = await pending(input);
        const quarantine = { reason: input.reason, by: input.by, since: new Date() };
        const { modifiedCount } = await plants.updateMany(
          { _id: { $in: chosen.map(({ id }) => id) }, pending: true },
          { $set: { pending: 'quarantined', quarantine } },
          bounded,
        );
        await processNow(commitsAmong(chosen)).catch(() => {});
        return {
          action: 'quarantined',
          affected: modifiedCount,
          before: 'pending',
          after: `quarantined: ${named(chosen)}`,
        };
      },
    },
    release: {
      title: 'Release from quarantine',
      needsRedis: false,
      page: '/failures',
      async plan(input) {
        const affected = (await quarantined(input)).length;
        return { affected, effect: releaseEffect(affected, input) };
      },
      async apply(input) {
        const chosen = await quarantined(input);
        const { modifiedCount } = await plants.updateMany(
          { _id: { $in: chosen.map(({ id }) => id) }, pending: 'quarantined' },
          { $set: { pending: true }, $unset: { quarantine: '' } },
          bounded,
        );
        await processNow(commitsAmong(chosen)).catch(() => {});
        return {
          action: 'released',
          affected: modifiedCount,
          before: 'quarantined',
          after: `pending: ${named(chosen)}`,
        };
      },
    },
  };
}

function quarantineEffect(affected: number, { plant, matching }: ControlInput): string {
  if (affected === 0) {
    return plant === undefined
      ? `Nothing: no plant that cannot be processed has a reason with “${matching}”.`
      : `Nothing: plant ${plant} is not pending.`;
  }
  return affected === 1
    ? `${plantsInWords(affected, plant)} set aside: until it is released, it is neither indexed nor audited, and it is ` +
        `not retried. Nothing of it is lost, and it stays listed under Failures.`
    : `${plantsInWords(affected, plant)} set aside: until they are released, they are neither indexed nor audited, and ` +
        `they are not retried. Nothing of them is lost, and they stay listed under Failures.`;
}

function releaseEffect(affected: number, { plant, matching }: ControlInput): string {
  if (affected === 0) {
    return plant === undefined
      ? `Nothing: no plant is in quarantine for a reason with “${matching}”.`
      : `Nothing: plant ${plant} is not in quarantine.`;
  }
  const what = affected === 1 ? 'it, or it fails' : 'them, or they fail';
  return `${plantsInWords(affected, plant)} pending again: workers index and audit ${what} once more.`;
}

function plantsInWords(affected: number, plant: bigint | undefined): string {
  if (plant !== undefined) return `Plant ${plant} is`;
  return affected === 1 ? '1 plant is' : `${count(affected)} plants are`;
}

function commitsAmong(chosen: readonly Chosen[]): Set<string> {
  return new Set(chosen.flatMap(({ commit }) => commit ?? []));
}

function named(chosen: readonly Chosen[]): string {
  const ids = chosen.slice(0, NAMED_MAX).map(({ id }) => id.toString());
  const more = chosen.length - ids.length;
  return `${ids.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
