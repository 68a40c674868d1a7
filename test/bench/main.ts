/**
 * `npm run bench`: the product beside its rivals, everyone in turn on the same servers. What it compares and what voids
 * a run: docs/performance.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { wrk } from './load/run-load.ts';
import { measure } from './measure/measure.ts';
import { farBeyond, goals, guarded } from './report/goals.ts';
import { goalTable, markdown } from './report/markdown.ts';
import { publish } from './report/publish.ts';
import { prepareGround } from './systems/ground.ts';

const usage = `npm run bench -- [--quick] [--json FILE] [--publish] [--guard]
  --quick      two short rounds of each pair, one of all else: under 4 minutes; whole: under 30
  --json FILE  everything that was measured
  --publish    writes docs/benchmark.json, docs/benchmark.md and the table of the README
  --guard      fails where ${guarded.join(', ')} miss their goal by a factor of two
`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
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
  const results = await measure(options.quick ? 'quick' : 'full', { ground, folder, say });
  await ground.close();

  say(`\n${markdown(results)}`);
  if (options.json !== undefined)
    writeFileSync(resolve(options.json), `${JSON.stringify(results, null, 2)}\n`);
  if (options.publish) for (const file of publish(results)) say(`wrote ${file}`);
  if (options.guard) {
    const shown = goals(results).filter(({ id }) => guarded.includes(id));
    say(goalTable(shown).join('\n'));
    const beyond = shown.filter(farBeyond).map(({ id }) => id);
    if (beyond.length > 0) throw new Error(`${beyond.join(', ')}: beyond twice the goal`);
  }
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
process.once('exit', removeFolder);
process.exit();
