import { Command } from 'commander';
import {
  type Control,
  type ControlInput,
  type ControlName,
  PAUSE_MINUTES_DEFAULT,
  PAUSE_MINUTES_MAX,
  REDIS_AWAY,
  targetOf,
} from '../controls/control.ts';
import { queueControls } from '../controls/queue-controls.ts';
import { plantControls } from '../failures/plant-controls.ts';
import { createFailuresReader } from '../failures/read-failures.ts';
import { CommandError } from './failures.ts';
import {
  type Confirmation,
  commandActor,
  confirm,
  openAudit,
  performed,
  printOutcome,
} from './operator-action.ts';
import { plantId, wholeNumber } from './output.ts';
import { type OpenDatabase, type OpenQueue, openDatabase, openQueue } from './system.ts';

type Options = Confirmation & { reason: string; minutes?: number; plant?: bigint; matching?: string };

/** The console's controls on the command line: each shows first what it will do, and is audited. */
export function controlCommands(): Command[] {
  return [
    command(
      'pause',
      'Pauses the queue: workers take no further job until the end of the pause, or `resume`.',
    ).option(
      '--minutes <minutes>',
      'it resumes by itself after so long, where the console runs',
      wholeNumber(1, PAUSE_MINUTES_MAX),
      PAUSE_MINUTES_DEFAULT,
    ),
    command('resume', 'Resumes the queue.'),
    command('retry', 'Retries failed jobs at once: all, those of one plant, or those with a reason.')
      .option('--plant <id>', 'the jobs that name the commit of this plant', plantId)
      .option('--matching <text>', 'jobs whose reason contains this text'),
    command(
      'quarantine',
      'Sets plants that cannot be processed aside: they stay stored and listed, and are not retried.',
    )
      .option('--plant <id>', 'this plant', plantId)
      .option(
        '--matching <text>',
        'every plant that cannot be processed and whose reason contains this text',
      ),
    command('release', 'Takes plants back from quarantine: workers process them as any other.')
      .option('--plant <id>', 'this plant', plantId)
      .option('--matching <text>', 'every plant whose quarantine was given a reason that contains this text'),
  ];
}

function command(name: ControlName, description: string): Command {
  return new Command(name)
    .description(`${description} Shows first what it will do.`)
    .requiredOption('--reason <text>', 'why: it becomes part of the audit log')
    .option('--yes', 'go on without asking')
    .option('--json', 'the outcome as JSON')
    .action((options: Options) => run(name, options));
}

async function run(name: ControlName, options: Options): Promise<void> {
  const { reason, minutes = PAUSE_MINUTES_DEFAULT, plant, matching = '' } = options;
  if ((name === 'quarantine' || name === 'release') && plant === undefined && matching === '') {
    throw new CommandError('name a plant with --plant, or several by their reason with --matching');
  }
  await using open = await openDatabase();
  if (open.addresses.redis === undefined) throw new CommandError('REDIS_URL is not set: it names the queue');
  await using queue = await openQueue(open.addresses);
  using audit = await openAudit(open);
  const input: ControlInput = {
    by: commandActor().name,
    reason: reason.trim(),
    minutes,
    matching,
    ...(plant !== undefined && { plant }),
  };
  const control = controlsOf(open, queue)[name];
  const obstacle =
    control.needsRedis && queue.redis.status !== 'ready'
      ? ({
          kind: 'unavailable',
          words: REDIS_AWAY,
        } as const)
      : undefined;
  if (obstacle === undefined) await confirm((await control.plan(input)).effect, options);
  const action = {
    name,
    target: targetOf(input),
    reason: input.reason,
    obstacle,
    apply: () => control.apply(input),
  };
  printOutcome(await performed(audit, action), options);
}

function controlsOf(
  { database }: OpenDatabase,
  { queue, redis, prefix }: OpenQueue,
): Record<ControlName, Control> {
  const failures = createFailuresReader(database, { queue, redis });
  return {
    ...queueControls(queue, redis, prefix, failures),
    ...plantControls(database, { queue, redis }, failures),
  };
}
