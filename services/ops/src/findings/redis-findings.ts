import type { Rule } from './finding.ts';

const MEMORY_FULL = 0.98;

const away: Rule = {
  id: 'redis-unreachable',
  find: ({ queue, faults }) =>
    queue !== undefined
      ? []
      : [
          {
            level: 'warn',
            headline: 'Redis is unreachable',
            cause: faults.redis ?? 'It does not answer.',
            affected:
              'Plants are created as usual; they are indexed and audited once Redis is back. Nothing is lost.',
            action: 'Start Redis again. Its data may be empty: workers find pending plants in MongoDB.',
          },
        ],
};

const full: Rule = {
  id: 'redis-full',
  find: ({ redis }) => {
    if (redis?.memoryUsed === undefined || redis.memoryUsed < MEMORY_FULL) return [];
    return [
      {
        level: 'warn',
        headline: 'Redis is full',
        cause: 'Its memory has reached maxmemory.',
        affected: 'Jobs are neither published nor taken; plants are created as usual and stay pending.',
        action:
          'Raise maxmemory, or remove foreign keys. Workers drop waiting jobs to make room; none is lost for good.',
      },
    ];
  },
};

const settings: Rule = {
  id: 'redis-settings',
  find: ({ redis }) =>
    redis === undefined || redis.faults.length === 0
      ? []
      : [
          {
            level: 'warn',
            headline: 'Redis may drop waiting jobs',
            cause: `${redis.faults.join('; ')}.`,
            affected: 'Indexing and auditing come later for plants whose job is dropped. Nothing is lost.',
            action: 'Correct the setting, in the configuration file too.',
          },
        ],
};

export const redisRules: readonly Rule[] = [away, full, settings];
