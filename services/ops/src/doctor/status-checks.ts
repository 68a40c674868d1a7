import { auditIndexes, plantIndexes, searchIndexes } from '@plant-store/contracts/indexes';
import { VERSION } from '@plant-store/platform/process/version';
import { type FindingNow, findingsNow } from '../findings/diagnose.ts';
import { age, count } from '../status/figures.ts';
import type { SystemStatus } from '../status/status.ts';
import { type Check, good, skipped } from './check.ts';

type Topic = {
  name: string;
  /** The console's findings about it. */
  findings: readonly string[];
  /** What it is when there is no finding; undefined while the server that would tell does not answer. */
  found: (status: SystemStatus) => string | undefined;
};

const topics: readonly Topic[] = [
  {
    name: 'MongoDB answers',
    findings: ['mongodb-unreachable'],
    found: ({ database }) => database && `a primary answers; about ${count(database.plants)} plants`,
  },
  {
    name: 'indexes',
    findings: ['index-missing'],
    found: ({ database }) =>
      database && `all ${plantIndexes.length + searchIndexes.length + auditIndexes.length} exist`,
  },
  {
    name: 'disk of MongoDB',
    findings: ['disk-nearly-full'],
    found: ({ database }) =>
      database?.diskUsed === undefined ? undefined : `${Math.floor(database.diskUsed * 100)} % in use`,
  },
  {
    name: 'audit anchors',
    findings: ['anchor-late'],
    found: ({ database }) =>
      database?.anchorAgeMs === undefined
        ? undefined
        : `the newest was made ${age(database.anchorAgeMs)} ago`,
  },
  {
    name: 'Redis answers',
    findings: ['redis-unreachable', 'redis-full'],
    found: ({ redis }) =>
      redis &&
      (redis.memoryUsed === undefined
        ? 'without a limit on its memory'
        : `${Math.floor(redis.memoryUsed * 100)} % of maxmemory in use`),
  },
  {
    name: 'Redis policy',
    findings: ['redis-settings'],
    found: ({ redis }) => redis && 'no job is evicted',
  },
  {
    name: 'clocks',
    findings: ['clock-off'],
    found: ({ clocks }) =>
      clocks.length === 0
        ? undefined
        : clocks.map(({ server, aheadMs }) => `${server} ${(aheadMs / 1_000).toFixed(1)} s ahead`).join(', '),
  },
  {
    name: 'workers',
    findings: ['no-worker', 'worker-silent', 'worker-stuck', 'worker-restarts'],
    found: ({ queue }) => queue && `${count(queue.workers.length)} report`,
  },
  {
    name: 'queue',
    findings: [
      'queue-paused',
      'queue-limited',
      'jobs-failed',
      'foreign-jobs',
      'jobs-in-unused-states',
      'behind',
    ],
    found: ({ queue }) => queue && `${count(queue.waiting)} jobs wait, ${count(queue.failed)} failed`,
  },
];

/** What the console would find wrong, as checks; also what it takes for granted. */
export function statusChecks(status: SystemStatus): Check[] {
  const findings = findingsNow(status);
  const known = new Set(topics.flatMap((topic) => topic.findings));
  return [
    ...topics.flatMap((topic) => topicChecks(topic, status, findings)),
    ...findings.filter(({ id }) => !known.has(id)).map((finding) => checkOf('system', finding)),
    ...versions(status),
  ];
}

function topicChecks(
  { name, findings: ids, found }: Topic,
  status: SystemStatus,
  all: readonly FindingNow[],
): Check[] {
  const own = all.filter(({ id }) => ids.includes(id)).map((finding) => checkOf(name, finding));
  if (own.length > 0) return own;
  if (
    name === 'audit anchors' &&
    status.database !== undefined &&
    status.database.anchorAgeMs === undefined
  ) {
    return [
      {
        name,
        level: 'warn',
        found: 'there is none, so nobody notices when the end of the audit log is cut off',
        mend: 'Set AUDIT_ANCHOR_KEY of the workers (docs/operations.md).',
      },
    ];
  }
  const text = found(status);
  return [text === undefined ? skipped(name, 'the server that knows does not tell') : good(name, text)];
}

function checkOf(name: string, { id, level, headline, cause, action }: FindingNow): Check {
  return { name, level, found: `${headline}. ${cause}`, mend: `${action} More: docs/runbook.md#${id}` };
}

/** Workers of another version than this command: during an update for a while, otherwise by mistake. */
function versions({ queue }: SystemStatus): Check[] {
  const name = 'versions';
  if (queue === undefined) return [skipped(name, 'workers tell theirs through Redis')];
  const others = queue.workers.filter(({ version }) => version !== VERSION);
  if (others.length === 0)
    return [good(name, `this command and ${count(queue.workers.length)} workers: ${VERSION}`)];
  return [
    {
      name,
      level: 'warn',
      found: `this command is ${VERSION}, and ${others.map((worker) => `${worker.name} is ${worker.version}`).join(', ')}`,
      mend: 'Finish the update, so that all processes run the same version.',
    },
  ];
}
