import { hostname } from 'node:os';
import { Command } from 'commander';
import { reindex } from '../search/reindex.ts';
import { ReindexRunning, takeReindex } from '../search/reindex-state.ts';
import { CommandError } from './failures.ts';
import { count, printJson, printLine, wholeNumber } from './output.ts';
import { createProgress } from './progress.ts';
import { openDatabase } from './system.ts';

const PLANTS_PER_SECOND = 3_000;

export function reindexCommand(): Command {
  return new Command('reindex')
    .description(
      'Builds the search index anew while the store runs, and swaps it in. Killed or stopped, it goes on where it was when it is ' +
        'started again; one runs at a time.',
    )
    .option('--rate <plants>', 'plants a second, at most', wholeNumber(100, 1_000_000), PLANTS_PER_SECOND)
    .option('--json', 'the answer as JSON')
    .action(async ({ rate, json }: { rate: number; json?: true }) => {
      await using open = await openDatabase();
      const stop = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
      try {
        await using store = await takeReindex(open.database, `${hostname()}, process ${process.pid}`, () =>
          process.stderr.write('another reindex holds the lease: seeing whether it still runs\n'),
        );
        using progress = createProgress();
        const { client, database } = open;
        const done = await reindex({
          client,
          database,
          store,
          plantsPerSecond: rate,
          signal: stop.signal,
          onProgress: progress.at,
        });
        progress[Symbol.dispose]();
        if (json) printJson(done);
        else
          printLine(
            `reindexed: ${count(done.plants)} plants, ${count(done.skipped)} left out that cannot be indexed`,
          );
      } catch (error) {
        if (error instanceof ReindexRunning) throw new CommandError(error.message);
        if (stop.signal.aborted) throw new CommandError('stopped: start it again and it goes on from here');
        throw error;
      }
    });
}
