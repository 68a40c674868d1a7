/**
 * `npm run bench`: the product beside its rivals, everyone in turn on the same servers. What it compares and what voids
 * a run: docs/performance.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { commandLine } from '../harness/command-line.ts';
import { measureCurves } from './curves/measure-curves.ts';
import { ledgerTables, missedGoals } from './ledger/ledger-table.ts';
import { measureLedger } from './ledger/measure-ledger.ts';
import { wrk } from './load/run-load.ts';
import { type Bench, measure } from './measure/measure.ts';
import { farBeyond, goals, guarded } from './report/goals.ts';
import { goalTable, markdown } from './report/markdown.ts';
import { publish, publishedCurves, publishedLedger, publishedResults } from './report/publish.ts';
import { prepareGround } from './systems/ground.ts';

const usage = `npm run bench -- [--quick] [--json FILE] [--publish] [--guard]
npm run bench -- --curves [--quick] [--json FILE] [--publish]
npm run bench -- --ledger [--plants N] [--quick] [--json FILE] [--publish]
  --quick      two short rounds of each pair, one of all else: under 4 minutes; whole: under 30
  --curves     how the cost of a plant grows with connections, replicas, workers, names, commits and plants stored, and
               how a backlog drains, instead: about 20 minutes
  --ledger     searches, audit verify, reconcile and reindex on a store of a million plants, instead: about 10 minutes
  --plants N   of so many plants; with --quick nothing beside creates, and no reindex
  --json FILE  everything that was measured
  --publish    writes docs/benchmark.json, docs/benchmark.md and the table of the README; of the curves
               docs/benchmark-curves.json and docs/plots; of --ledger docs/benchmark-ledger.json and the tables of
               docs/performance.md
  --guard      fails where ${guarded.join(', ')} miss their goal by a factor of two
`;

const { values: options } = commandLine('bench', usage, {
  options: {
    quick: { type: 'boolean', default: false },
    curves: { type: 'boolean', default: false },
    ledger: { type: 'boolean', default: false },
    plants: { type: 'string', default: '1000000' },
    json: { type: 'string' },
    publish: { type: 'boolean', default: false },
    guard: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
if (options.help) {
  say(usage);
  process.exit(0);
}

/** Fewer have too few plants of a rare kind to ask for. */
const LEDGER_PLANTS_MIN = 20_000;

const mode = options.quick ? 'quick' : 'full';
const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
/** Last, after the processes that write there were killed. */
const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.once('exit', removeFolder);
    process.exit(130);
  });
}

try {
  if (wrk === undefined) {
    say(
      'wrk is not on PATH (Debian: "apt-get install wrk"): closed loops are driven by a generator in Node, which costs more CPU',
    );
  }
  const ground = await prepareGround(folder, (server, choice) => say(`${server}: ${choice}`));
  const run = options.ledger ? runLedger : options.curves ? runCurves : runBenchmark;
  await run({ ground, folder, say });
  await ground.close();
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
process.once('exit', removeFolder);
process.exit();

async function runBenchmark(bench: Bench): Promise<void> {
  const results = await measure(mode, bench);
  say(`\n${markdown(results)}`);
  keep(results, publishedResults(results));
  if (!options.guard) return;
  const shown = goals(results).filter(({ id }) => guarded.includes(id));
  say(goalTable(shown).join('\n'));
  const beyond = shown.filter(farBeyond).map(({ id }) => id);
  if (beyond.length > 0) throw new Error(`${beyond.join(', ')}: beyond twice the goal`);
}

async function runCurves(bench: Bench): Promise<void> {
  const results = await measureCurves(mode, bench);
  keep(results, await publishedCurves(results));
}

async function runLedger(bench: Bench): Promise<void> {
  const plants = Number(options.plants);
  if (!Number.isSafeInteger(plants) || plants < LEDGER_PLANTS_MIN) {
    throw new Error(`--plants must be a whole number from ${LEDGER_PLANTS_MIN}`);
  }
  const results = await measureLedger(bench, {
    plants,
    asked: 20,
    stretches: mode === 'quick' ? 0 : 2,
    stretchSeconds: 15,
  });
  say(`\n${ledgerTables([results])}`);
  for (const missed of missedGoals(results)) say(`missed: ${missed}`);
  keep(results, publishedLedger(results));
}

function keep(results: unknown, files: Record<string, string>): void {
  if (options.json !== undefined)
    writeFileSync(resolve(options.json), `${JSON.stringify(results, null, 2)}\n`);
  if (options.publish) for (const file of publish(files)) say(`wrote ${file}`);
}
