import { Command } from 'commander';
import { publishedWords } from '../pages/plant-page.ts';
import { type PlantStory, plantStory } from '../plants/plant-story.ts';
import { CommandError } from './failures.ts';
import { plantId, printFacts, printJson, shown } from './output.ts';
import { openDatabase } from './system.ts';

export function plantCommand(): Command {
  return new Command('plant')
    .description('Tells the story of one plant: who created it, when and from where, and what became of it.')
    .argument('<id>', 'the id of the plant', plantId)
    .option('--json', 'the answer as JSON')
    .action(async (id: bigint, { json }: { json?: true }) => {
      await using open = await openDatabase();
      const story = await plantStory(open.database, id);
      if (story === undefined) throw new CommandError(`there is no plant ${id}`, 1);
      if (json) printJson(story);
      else printFacts(facts(story));
    });
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
    commit,
    created: times.created?.toISOString() ?? 'unknown',
    published: times.published && publishedWords(times.published),
    indexed: after(times.indexed) ?? 'not yet',
    audited: after(times.audited) ?? 'not yet',
    anchored: after(times.anchored) ?? 'not yet',
    block:
      block &&
      `chain ${block.chain}, height ${block.height}, entry ${block.index + 1} of ${block.entries}, sealed by ${block.sealer}`,
    'block hash': block?.hash,
    proof: anchor && `npm run ops -- audit prove --id ${id}  (anchor ${anchor.sequence}, key ${anchor.key})`,
  };
}
