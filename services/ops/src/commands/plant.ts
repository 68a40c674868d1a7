import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import { searchPlants } from '@plant-store/search/search-plants';
import { Command } from 'commander';
import type { Db } from 'mongodb';
import { publishedWords } from '../pages/plant-page.ts';
import { type PlantStory, plantStory } from '../plants/plant-story.ts';
import { CommandError } from './failures.ts';
import { plantId, printFacts, printJson, shown } from './output.ts';
import { openDatabase } from './system.ts';

export function plantCommand(): Command {
  return new Command('plant')
    .description('Tells the story of one plant: who created it, when and from where, and what became of it.')
    .argument('[id]', 'the id of the plant', plantId)
    .option('--request <id>', 'the id of the request that created it, in place of its own')
    .option('--json', 'the answer as JSON')
    .action(async (id: bigint | undefined, { request, json }: { request?: string; json?: true }) => {
      if ((id === undefined) === (request === undefined))
        throw new CommandError(
          'give the id of a plant, or --request with the id of the request that created it',
        );
      await using open = await openDatabase();
      const found = id ?? (await createdBy(open.database, request as string));
      const story = await plantStory(open.database, found);
      if (story === undefined) throw new CommandError(`there is no plant ${found}`, 1);
      if (json) printJson(story);
      else printFacts(facts(story));
    });
}

/** @throws CommandError unless the request created one plant; a client that chooses its ids may have used one again */
export async function createdBy(database: Db, request: string, msMax?: number): Promise<bigint> {
  const indexes = { index: mongoTermIndex(database), audited: mongoAuditedIndex(database) };
  const { plants, timedOut } = await searchPlants(
    indexes,
    { request },
    { plantsMax: 2, ...(msMax !== undefined && { msMax }) },
  );
  const [plant, another] = plants;
  if (timedOut && another === undefined)
    throw new CommandError(`the search for request ${request} was not finished in time: ask again`);
  if (plant === undefined)
    throw new CommandError(
      `no audited plant was created by request ${request}: it was refused, or is not audited yet`,
      1,
    );
  if (another !== undefined)
    throw new CommandError(`request ${request} created several plants: "search --request" lists them`, 1);
  return plant.id;
}

function facts({
  plant,
  state,
  fault,
  quarantine,
  times,
  block,
  anchor,
}: PlantStory): Record<string, string | undefined> {
  const { id, name, tag, by, from, commit } = plant;
  const after = (at: Date | undefined) =>
    at &&
    (times.created === undefined
      ? at.toISOString()
      : `${at.toISOString()}  (${((at.getTime() - times.created.getTime()) / 1_000).toFixed(3)} s later)`);
  return {
    id: id.toString(),
    name: shown(String(name)),
    tag: tag && shown(String(tag)),
    state,
    'cannot be processed': fault && shown(fault.rule),
    quarantined: quarantine && shown(`by ${quarantine.by}: ${quarantine.reason}`),
    'created by': shown(
      [by?.sub, by?.iss && `of ${by.iss}`, by?.jti && `with token ${by.jti}`].filter(Boolean).join(' '),
    ),
    from: shown(`${from?.address}, through ${from?.instance}`),
    request: shown(
      `${from?.request}${from?.requestBy === undefined ? '' : ` (chosen by the ${from.requestBy})`}`,
    ),
    commit: shown(commit),
    created: times.created?.toISOString() ?? 'unknown',
    published: times.published && publishedWords(times.published, (at) => at.toISOString()),
    indexed: after(times.indexed) ?? 'not yet',
    audited: after(times.audited) ?? 'not yet',
    anchored: after(times.anchored) ?? 'not yet',
    block:
      block &&
      `chain ${block.chain}, height ${block.height}, entry ${block.index + 1} of ${block.entries}, sealed by ${shown(block.sealer)}`,
    'block hash': block?.hash,
    proof:
      anchor &&
      `npm run ops -- audit prove --id ${id}  (anchor ${anchor.sequence}, key ${shown(anchor.key)})`,
  };
}
