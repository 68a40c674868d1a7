import { PLANTS } from '@plant-store/contracts/plant-document';
import { Command } from 'commander';
import { Redis } from 'ioredis';
import type { OperatorAudit } from '../controls/operator-audit.ts';
import { publishAgain } from '../plants/publish-again.ts';
import { type Difference, reconcile } from '../plants/reconcile.ts';
import { openAudit, performed } from './operator-action.ts';
import { count, printJson, printLine, time } from './output.ts';
import { createProgress } from './progress.ts';
import { type Addresses, type OpenDatabase, openDatabase } from './system.ts';

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
      using audit = fix ? await openAudit(open) : undefined;
      const counts = new Map<Difference['kind'], number>();
      const shown: Difference[] = [];
      const missing = new Map<bigint, string>();
      let compared: { plants: number };
      {
        using progress = createProgress();
        compared = await reconcile(open.database, {
          ...(since && { since }),
          onDifference: (difference) => {
            counts.set(difference.kind, (counts.get(difference.kind) ?? 0) + 1);
            if (shown.length < SHOWN_MAX) shown.push(difference);
            if ('commit' in difference) missing.set(difference.plant, difference.commit);
          },
          onProgress: progress.at,
        });
      }
      const repaired = audit === undefined ? 0 : await auditedRepair(open, audit, missing, reason);
      const differences = Object.fromEntries(counts);
      if (json) printJson({ ...compared, differences, repaired, first: shown });
      else printComparison(compared.plants, counts, shown, { repaired, missing: missing.size });
      const left = [...counts.keys()].some((kind) => !fix || !['not indexed', 'not audited'].includes(kind));
      if (left) process.exitCode = 1;
    });
}

function printComparison(
  plants: number,
  counts: ReadonlyMap<string, number>,
  shown: readonly Difference[],
  { repaired, missing }: { repaired: number; missing: number },
): void {
  for (const { kind, plant, ...where } of shown) {
    const place =
      'height' in where && where.height !== undefined
        ? ` (chain ${where.chain}, height ${where.height})`
        : '';
    printLine(`plant ${plant}: ${kind}${place}`);
  }
  const found = [...counts].map(([kind, number]) => `${count(number)} ${kind}`).join(', ');
  printLine(`compared: ${count(plants)} plants; ${found === '' ? 'no difference' : found}`);
  if (repaired > 0) printLine(`published again: ${count(repaired)} plants; workers index and audit them now`);
  else if (missing > 0) printLine('with --fix, workers index and audit what is missing');
  if (counts.has('index differs') || counts.has('indexed, not stored'))
    printLine('reindex mends the search index');
  if ([...counts.keys()].some((kind) => kind.startsWith('audited')))
    printLine('audit verify says more of the audit log');
}

/** Nothing is recorded when nothing is missing. */
async function auditedRepair(
  { database, addresses }: OpenDatabase,
  audit: OperatorAudit,
  missing: ReadonlyMap<bigint, string>,
  reason: string,
): Promise<number> {
  if (missing.size === 0) return 0;
  const { affected } = await performed(audit, {
    name: 'reconcile',
    target: PLANTS,
    reason,
    apply: async () => ({
      action: 'reconciled',
      affected: await repair(database, addresses, missing),
      before: 'not indexed or not audited',
      after: 'pending',
    }),
  });
  return affected;
}

async function repair(
  database: Parameters<typeof publishAgain>[0],
  { redis: url, queuePrefix }: Addresses,
  missing: ReadonlyMap<bigint, string>,
): Promise<number> {
  const plants = [...missing].map(([plant, commit]) => ({ plant, commit }));
  const redis =
    url === undefined ? undefined : new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: REDIS_MS_MAX });
  redis?.on('error', () => {});
  try {
    for (let start = 0; start < plants.length; start += REPAIRED_AT_ONCE) {
      await publishAgain(database, redis, queuePrefix, plants.slice(start, start + REPAIRED_AT_ONCE));
    }
  } finally {
    redis?.disconnect();
  }
  return plants.length;
}
