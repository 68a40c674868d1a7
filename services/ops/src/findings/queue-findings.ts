import { age, count } from '../status/figures.ts';
import type { QueueStatus } from '../status/reading/queue-status.ts';
import type { Rule } from './finding.ts';

/** Creations are promised to be indexed and audited within a minute of recovery. */
export const BEHIND_MS = 60_000;

const paused: Rule = {
  id: 'queue-paused',
  find: ({ queue }) =>
    queue?.paused !== true
      ? []
      : [
          {
            level: 'warn',
            headline: 'The queue is paused',
            cause: pauseCause(queue),
            affected: 'Plants are created as usual; none is indexed or audited until the queue is resumed.',
            action: 'Resume the queue, under Controls, once the reason for the pause is gone.',
          },
        ],
};

function pauseCause({ pause }: QueueStatus): string {
  if (pause === undefined) return 'Somebody paused it in another tool; it has no end.';
  const { by, reason, until } = pause;
  return `${by} paused it: ${reason}. It resumes by itself at ${until.toISOString().slice(11, 16)} UTC.`;
}

const limited: Rule = {
  id: 'queue-limited',
  find: ({ queue }) => {
    const limits = [
      ...(queue?.rateLimit === undefined
        ? []
        : [`at most ${count(queue.rateLimit.max)} jobs in ${age(queue.rateLimit.perMs)}`]),
      ...(queue?.concurrency === undefined ? [] : [`at most ${count(queue.concurrency)} jobs at a time`]),
      ...(queue?.haltedMs === undefined ? [] : [`no job for another ${age(queue.haltedMs)}`]),
    ];
    if (limits.length === 0) return [];
    return [
      {
        level: 'warn',
        headline: `The queue is limited: ${limits.join(', ')}`,
        cause: 'The limit was set in Redis from outside; this system never sets one.',
        affected: 'Workers take fewer jobs than they could, for as long as the limit stands.',
        action: 'Lift the limit, under Controls.',
      },
    ];
  },
};

/** A job may be in such a state for a moment before a worker takes it. */
const notTaken: Rule = {
  id: 'jobs-in-unused-states',
  holdMs: 5_000,
  find: ({ queue }) => {
    const states = Object.entries(queue?.unusual ?? {}).filter(([, jobs]) => jobs > 0);
    if (states.length === 0) return [];
    return [
      {
        level: 'warn',
        headline: `Jobs stand where no worker of this system puts them: ${states
          .map(([state, jobs]) => `${count(jobs)} ${state}`)
          .join(', ')}`,
        cause: 'Another program, or a person, changed or added them.',
        affected: 'Their plants are processed all the same, since the relay publishes pending plants again.',
        action: 'Find out who writes to this queue, and remove those jobs.',
      },
    ];
  },
};

const foreign: Rule = {
  id: 'foreign-jobs',
  find: ({ queue }) =>
    queue === undefined || queue.foreignJobs.length === 0
      ? []
      : [
          {
            level: 'warn',
            headline: `The queue holds jobs of other programs: ${queue.foreignJobs.slice(0, 3).join(', ')}`,
            cause: 'Another program, or a person, adds jobs to this queue.',
            affected: 'They fail and stay; plants are not affected.',
            action: 'Find out who writes to this queue, and remove those jobs.',
          },
        ],
};

const failed: Rule = {
  id: 'jobs-failed',
  find: ({ database, queue }) => {
    const poison = database?.backlog.poison ?? 0;
    const jobs = queue?.failed ?? 0;
    if (jobs === 0 && poison === 0) return [];
    const [reason] = queue?.failureReasons ?? [];
    const plants = poison === 1 ? '1 plant' : `${count(poison)} plants`;
    return [
      {
        level: 'warn',
        headline:
          poison > 0
            ? `${plants} cannot be processed`
            : `${jobs === 1 ? 'A job has' : `${count(jobs)} jobs have`} failed`,
        cause: reason ?? 'The failed job is being retried.',
        affected: 'The plants that cannot be processed stay pending; all others go on.',
        action:
          'Failed jobs are retried by themselves. Should they stay, mend the plants: Failures shows which field is wrong.',
      },
    ];
  },
};

const behind: Rule = {
  id: 'behind',
  find: ({ database, queue }) => {
    const lastedMs = Math.max(database?.backlog.oldestMs ?? 0, queue?.oldestWaitingMs ?? 0);
    if (lastedMs <= BEHIND_MS) return [];
    return [
      {
        level: 'warn',
        headline: `Indexing and auditing are behind: the oldest plant waits for ${age(lastedMs)}`,
        cause:
          'Plants arrive faster than the workers process them, or something listed here holds the workers up.',
        affected:
          'New plants are not found by search yet and stand in no audit block yet. Creates are not affected.',
        action: 'If nothing else is listed, add workers.',
        lastedMs: lastedMs - BEHIND_MS,
      },
    ];
  },
};

export const queueRules: readonly Rule[] = [paused, limited, failed, foreign, notTaken, behind];
