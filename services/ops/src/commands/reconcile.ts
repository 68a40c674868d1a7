import { PLANTS } from '@plant-store/contracts/plant-document';
import { Command } from 'commander';
import { Redis } from 'ioredis';
import { publishAgain } from '../plants/publish-again.ts';
import { type Difference, reconcile } from '../plants/reconcile.ts';
import { openAudit, performed } from './operator-action.ts';
import { count, printJson, printLine, time } from './output.ts';
import { createProgress } from './progress.ts';
import { type OpenDatabase, openDatabase } from './system.ts';

/** Plants repaired together; no more are kept in memory. */
const REPAIRED_AT_ONCE = 1_000;
const SHOWN_MAX = 50;
const REDIS_MS_MAX = 5_000;

type Options = { since?: Date; fix?: true; reason: string; json?: true };

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .description(
      'Compares plants, search index and audit log. Exits with 0 when they agree or all that differed was repaired, 1 when ' +
        'something is left, 2 when they could not be compared.',
    )
    .option(
      '--since <time>',
      'only plants created at this time or later: 2026-11-21T10:00:00Z, or 2h ago as 2h',
      time,
    )
    .option('--fix', 'have workers index and audit again what is missing')
    .option('--reason <text>', 'why it is fixed: it becomes part of the audit log', 'none given')
    .option('--json', 'the answer as JSON')
    .action(async ({ since, fix, reason, json }: Options) => {
      await using open = await openDatabase();
      const { plants, counts, first, repaired } = fix
        ? await auditedFix(open, since, reason)
        : { ...(await compare(open.database, since)), repaired: 0 };
      if (json) printJson({ plants, differences: Object.fromEntries(counts), repaired, first });
      else printComparison(plants, counts, first, repaired);
      const left = [...counts.keys()].some((kind) => !fix || !isRepairable(kind));
      if (left) process.exitCode = 1;
    });
}

const isRepairable = (kind: string) => ['not indexed', 'not audited'].includes(kind);

type Comparison = { plants: number; counts: Map<Difference['kind'], number>; first: Difference[] };

type OnMissing = (plant: bigint, commit: string) => Promise<void> | void;

async function compare(
  database: OpenDatabase['database'],
  since: Date | undefined,
  onMissing: OnMissing = () => {},
): Promise<Comparison> {
  const counts: Comparison['counts'] = new Map();
  const first: Difference[] = [];
  using progress = createProgress();
  const { plants } = await reconcile(database, {
    ...(since && { since }),
    onDifference: async (difference) => {
      counts.set(difference.kind, (counts.get(difference.kind) ?? 0) + 1);
      if (first.length < SHOWN_MAX) first.push(difference);
      if ('commit' in difference) await onMissing(difference.plant, difference.commit);
    },
    onProgress: progress.at,
  });
  return { plants, counts, first };
}

function printComparison(
  plants: number,
  counts: ReadonlyMap<string, number>,
  first: readonly Difference[],
  repaired: number,
): void {
  for (const { kind, plant, ...where } of first) {
    const place =
      'height' in where && where.height !== undefined
        ? ` (chain ${where.chain}, height ${where.height})`
        : '';
    printLine(`plant ${plant}: ${kind}${place}`);
  }
  const found = [...counts].map(([kind, number]) => `${count(number)} ${kind}`).join(', ');
  printLine(`compared: ${count(plants)} plants; ${found === '' ? 'no difference' : found}`);
  if (repaired > 0) printLine(`published again: ${count(repaired)} plants; workers index and audit them now`);
  else if ([...counts.keys()].some(isRepairable))
    printLine('with --fix, workers index and audit what is missing');
  if (counts.has('index differs') || counts.has('indexed, not stored'))
    printLine('reindex mends the search index');
  if ([...counts.keys()].some((kind) => kind.startsWith('audited')))
    printLine('audit verify says more of the audit log');
}

/** One action of an operator, from the first comparison to the last repair. */
async function auditedFix(
  open: OpenDatabase,
  since: Date | undefined,
  reason: string,
): Promise<Comparison & { repaired: number }> {
  using audit = await openAudit(open);
  let compared: Comparison = { plants: 0, counts: new Map(), first: [] };
  const { affected } = await performed(audit, {
    name: 'reconcile',
    target: PLANTS,
    reason,
    apply: async () => {
      using repair = createRepair(open);
      compared = await compare(open.database, since, repair.add);
      await repair.flush();
      const change = { before: 'not indexed or not audited', after: 'pending' };
      return { action: 'reconciled', affected: repair.repaired(), ...(repair.repaired() > 0 && change) };
    },
  });
  return { ...compared, repaired: affected };
}

/** Repairs plants by pages, as they are found. One that is pending again is no difference to later comparisons. */
function createRepair({ database, addresses: { redis: url, queuePrefix } }: OpenDatabase) {
  const redis =
    url === undefined ? undefined : new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: REDIS_MS_MAX });
  redis?.on('error', () => {});
  const page = new Map<bigint, string>();
  let repaired = 0;

  async function flush(): Promise<void> {
    const plants = [...page].map(([plant, commit]) => ({ plant, commit }));
    await publishAgain(database, redis, queuePrefix, plants);
    repaired += plants.length;
    page.clear();
  }

  return {
    add: async (plant: bigint, commit: string) => {
      page.set(plant, commit);
      if (page.size >= REPAIRED_AT_ONCE) await flush();
    },
    flush,
    repaired: () => repaired,
    [Symbol.dispose]: () => redis?.disconnect(),
  };
}
