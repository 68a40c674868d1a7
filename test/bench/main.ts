/**
 * `npm run bench`: the product beside its rivals, everyone in turn on the same servers. What it compares and what voids
 * a run: docs/performance.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCurves } from './curves/measure-curves.ts';
import { wrk } from './load/run-load.ts';
import { type Bench, measure } from './measure/measure.ts';
import { farBeyond, goals, guarded } from './report/goals.ts';
import { goalTable, markdown } from './report/markdown.ts';
import { publish, publishedCurves, publishedResults } from './report/publish.ts';
import { prepareGround } from './systems/ground.ts';

const usage = `npm run bench -- [--quick] [--json FILE] [--publish] [--guard]
npm run bench -- --curves [--quick] [--json FILE] [--publish]
  --quick      two short rounds of each pair, one of all else: under 4 minutes; whole: under 30
  --curves     how the cost of a plant grows with connections, replicas, workers, names, commits and plants stored, and
               how a backlog drains, instead: about 20 minutes
  --json FILE  everything that was measured
  --publish    writes docs/benchmark.json, docs/benchmark.md and the table of the README; of the curves
               docs/benchmark-curves.json and docs/plots
  --guard      fails where ${guarded.join(', ')} miss their goal by a factor of two
`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    curves: { type: 'boolean', default: false },
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
  await (options.curves ? runCurves : runBenchmark)({ ground, folder, say });
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

function keep(results: unknown, files: Record<string, string>): void {
  if (options.json !== undefined)
    writeFileSync(resolve(options.json), `${JSON.stringify(results, null, 2)}\n`);
  if (options.publish) for (const file of publish(files)) say(`wrote ${file}`);
}
