import { count } from '../status/figures.ts';
import type { Finding, Rule } from './finding.ts';

const DISK_WARN = 0.85;
const DISK_BAD = 0.95;
const CLOCK_MS_MAX = 2_000;
/** An anchor is made each minute. */
const ANCHOR_MS_MAX = 3 * 60_000;

const away: Rule = {
  id: 'mongodb-unreachable',
  find: ({ database, faults }) =>
    database !== undefined
      ? []
      : [
          {
            level: 'bad',
            headline: 'MongoDB is unreachable',
            cause: faults.mongodb ?? 'It does not answer.',
            affected:
              'No plant can be created: clients are answered 503 and told to try again. Nothing is lost.',
            action: 'Bring back a majority of the replica set. Everything resumes by itself.',
          },
        ],
};

/** Just after its creation a collection has no index yet. */
const indexMissing: Rule = {
  id: 'index-missing',
  holdMs: 5_000,
  find: ({ database }) => {
    const missing = database?.missingIndexes ?? [];
    if (missing.length === 0) return [];
    return [
      {
        level: 'warn',
        headline: `Missing in MongoDB: ${missing.length === 1 ? 'the index' : 'the indexes'} ${missing.join(', ')}`,
        cause: 'The index was dropped, or could not be built.',
        affected:
          'Queries that need it read whole collections; without a unique one a creation may be audited twice.',
        action: 'Restart a worker, which builds what is missing, and read its log if it cannot.',
      },
    ];
  },
};

const diskNearlyFull: Rule = {
  id: 'disk-nearly-full',
  find: ({ database }) => {
    const used = database?.diskUsed;
    if (used === undefined || used < DISK_WARN) return [];
    return [
      {
        level: used < DISK_BAD ? 'warn' : 'bad',
        headline: `The disk of MongoDB is ${Math.floor(used * 100)} % full`,
        cause: 'Plants, index, audit log or something else on that disk grew.',
        affected: 'Once it is full no plant can be created, and mongod may end.',
        action: 'Give it a larger disk, or remove what does not belong there.',
      },
    ];
  },
};

const clockOff: Rule = {
  id: 'clock-off',
  find: ({ clocks }) =>
    clocks
      .filter(({ aheadMs }) => Math.abs(aheadMs) > CLOCK_MS_MAX)
      .map(({ server, aheadMs }): Finding => {
        const seconds = (Math.abs(aheadMs) / 1_000).toFixed(0);
        return {
          subject: server,
          level: 'warn',
          headline: `The clocks of ${server} and of this console differ by ${count(Number(seconds))} s`,
          cause: `${server} is ${aheadMs > 0 ? 'ahead' : 'behind'}; one of the two machines is not synchronised.`,
          affected:
            'Times shown, ages and lags are wrong by as much, and access tokens may be refused as expired.',
          action: 'Check time synchronisation (chrony, systemd-timesyncd) on both machines.',
        };
      }),
};

const anchorLate: Rule = {
  id: 'anchor-late',
  find: ({ database }) => {
    const ageMs = database?.anchorAgeMs;
    if (ageMs === undefined || ageMs <= ANCHOR_MS_MAX) return [];
    return [
      {
        level: 'warn',
        headline: 'The audit log has had no new anchor for over 3 minutes',
        cause: 'No worker runs, or it cannot sign or store the anchor.',
        affected:
          'Entries are sealed all the same; but cutting off the newest ones would not show until the next anchor.',
        action: "Read the workers' logs for lines about anchors.",
        lastedMs: ageMs,
      },
    ];
  },
};

export const databaseRules: readonly Rule[] = [away, diskNearlyFull, indexMissing, anchorLate, clockOff];
