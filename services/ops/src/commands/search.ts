import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import type { Question } from '@plant-store/search/question';
import { PAGE_PLANTS_MAX, searchPlants } from '@plant-store/search/search-plants';
import { Command } from 'commander';
import { plantId, printJson, printLine, printTable, shown, time, wholeNumber } from './output.ts';
import { openDatabase } from './system.ts';

type Options = Omit<Question, 'text'> & { limit: number; after?: string; json?: true };

const NAME_SHOWN_MAX = 60;

export function searchCommand(): Command {
  return new Command('search')
    .description(
      'Finds plants: by words of name and tag, and by whatever else is given; all of it has to hold.',
    )
    .argument('[words...]', 'words of name and tag; the last one may be the beginning of one')
    .option('--id <id>', 'the id of the plant', plantId)
    .option('--name <start>', 'the beginning of the name')
    .option('--tag <tag>', 'the whole tag')
    .option('--request <id>', 'the id of the request that created it')
    .option('--commit <id>', 'the commit that stored it')
    .option('--subject <sub>', 'the subject of the token that it was created with')
    .option('--since <time>', 'created at this time or later: 2026-11-21T10:00:00Z, or 2h ago as 2h', time)
    .option('--until <time>', 'created before this time', time)
    .option('--limit <plants>', 'plants on a page', wholeNumber(1, PAGE_PLANTS_MAX), 20)
    .option('--after <page>', 'the page after the one that named it')
    .option('--json', 'the answer as JSON')
    .action(async (words: string[], { limit, after, json, ...asked }: Options) => {
      const question: Question = { ...asked, ...(words.length > 0 && { text: words.join(' ') }) };
      await using open = await openDatabase();
      const indexes = { index: mongoTermIndex(open.database), audited: mongoAuditedIndex(open.database) };
      const answer = await searchPlants(indexes, question, { plantsMax: limit, ...(after && { after }) });
      if (json) return printJson(answer);

      const rows = answer.plants.map(({ id, name, tag, created }) => [
        id.toString(),
        created.toISOString(),
        shown(tag ?? '–').slice(0, NAME_SHOWN_MAX),
        shown(name).slice(0, NAME_SHOWN_MAX),
      ]);
      if (rows.length > 0) printTable(['id', 'created', 'tag', 'name'], rows);
      else printLine('no plant');
      if (answer.timedOut)
        printLine('The search took longer than it may and is not finished: ask for more words, or go on.');
      if (answer.next !== undefined) printLine(`more: --after ${answer.next}`);
    });
}
