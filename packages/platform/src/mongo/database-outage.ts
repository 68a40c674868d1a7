import type { MongoClient } from 'mongodb';
import type { Logger } from '../process/logger.ts';
import { type OutageLog, outageLog } from '../process/outage-log.ts';
import { watchPrimary } from './primary-watch.ts';

/**
 * An outage that operations noticed, while a primary was seen all along, is over after so long without a failure. It is
 * longer than any loop pauses between its attempts, so that an outage is not announced at each of them.
 */
const QUIET_MS = 15_000;

/** What a process knows of the database: one pair of log lines for each outage, whoever notices its beginning and end. */
export type DatabaseOutage = Disposable &
  OutageLog & {
    /** Whether the driver sees a primary. */
    primarySeen: () => boolean;
  };

/**
 * An outage begins when no primary is seen any more or an operation fails because of the database (`fails`). It ends
 * when a primary is found, when an operation succeeds (`works`), or, since an idle process has no operations, when a
 * primary is seen and nothing has failed for 15 s.
 */
export function databaseOutage(
  client: MongoClient,
  logger: Logger,
  lines: { began: string; ended: string },
): DatabaseOutage {
  const outage = outageLog(logger, lines);
  let check: NodeJS.Timeout | undefined;
  const primary = watchPrimary(client, (seen) => {
    if (seen) works();
    else fails('no primary is seen');
  });

  function fails(reason: unknown): void {
    outage.fails(reason);
    clearTimeout(check);
    check = setTimeout(() => primary.seen() && works(), QUIET_MS).unref();
  }

  function works(): void {
    clearTimeout(check);
    outage.works();
  }

  return {
    fails,
    works,
    failing: outage.failing,
    primarySeen: primary.seen,
    [Symbol.dispose]() {
      clearTimeout(check);
      primary[Symbol.dispose]();
    },
  };
}
