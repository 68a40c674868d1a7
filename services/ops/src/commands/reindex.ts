import { constants, hostname, setPriority } from 'node:os';
import { PLANT_SEARCH } from '@plant-store/contracts/plant-document';
import { Command } from 'commander';
import { reindex } from '../search/reindex.ts';
import { ReindexRunning, takeReindex } from '../search/reindex-state.ts';
import { CommandError } from './failures.ts';
import { openAudit, performed } from './operator-action.ts';
import { count, printJson, printLine, wholeNumber } from './output.ts';
import { createProgress } from './progress.ts';
import { type OpenDatabase, openDatabase } from './system.ts';

const PLANTS_PER_SECOND = 3_000;

export function reindexCommand(): Command {
  return new Command('reindex')
    .description(
      'Builds the search index anew while the store runs, and swaps it in. Killed or stopped, it goes on where it was when it is ' +
        'started again; one runs at a time.',
    )
    .option('--rate <plants>', 'plants a second, at most', wholeNumber(100, 1_000_000), PLANTS_PER_SECOND)
    .option('--reason <text>', 'why: it becomes part of the audit log', 'none given')
    .option('--json', 'the answer as JSON')
    .action(async ({ rate, reason, json }: { rate: number; reason: string; json?: true }) => {
      await using open = await openDatabase();
      using audit = await openAudit(open);
      let done: Awaited<ReturnType<typeof reindex>> | undefined;
      await performed(audit, {
        name: 'reindex',
        target: PLANT_SEARCH,
        reason,
        apply: async () => {
          done = await rebuild(open, rate);
          return { action: 'reindexed', affected: done.plants };
        },
      });
      if (done === undefined) return;
      if (json) printJson(done);
      else
        printLine(
          `reindexed: ${count(done.plants)} plants, ${count(done.skipped)} left out that cannot be indexed`,
        );
    });
}

/** @throws CommandError when another one runs, or when it is stopped. */
async function rebuild({ database }: OpenDatabase, plantsPerSecond: number) {
  // On a machine that also answers creates, these come first.
  setPriority(constants.priority.PRIORITY_LOW);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    await using store = await takeReindex(database, `${hostname()}, process ${process.pid}`, () =>
      process.stderr.write('another reindex holds the lease: seeing whether it still runs\n'),
    );
    using progress = createProgress();
    return await reindex({
      database,
      store,
      plantsPerSecond,
      signal: stop.signal,
      onProgress: progress.at,
    });
  } catch (error) {
    if (error instanceof ReindexRunning) throw new CommandError(error.message);
    if (stop.signal.aborted) throw new CommandError('stopped: start it again and it goes on from here');
    throw error;
  }
}
