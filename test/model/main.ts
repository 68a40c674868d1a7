import { parseArgs } from 'node:util';
import { eventsModel } from './events-model.ts';
import { eventsRuns } from './events-runs.ts';
import { type Exploration, explore } from './explore.ts';
import { storageModel } from './storage-model.ts';
import { storageRuns } from './storage-runs.ts';

const USAGE = "npm run model -- [part of a run's name] [--states N]";

/** Explores the protocol at every scope, and every deviation from it. Exit code 1 when a run ends otherwise than it must. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { states: { type: 'string', default: '6000000' }, help: { type: 'boolean', default: false } },
});
const statesMax = Number(values.states);

if (values.help || positionals.length > 1 || !Number.isInteger(statesMax) || statesMax < 1) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(values.help ? 0 : 2);
}

const runs = [
  ...storageRuns.map(({ name, breaks, deviation }) => ({
    name: `storage: ${name}`,
    breaks,
    model: () => explore(storageModel(deviation), statesMax),
  })),
  ...eventsRuns.map(({ name, breaks, deviation }) => ({
    name: `events: ${name}`,
    breaks,
    model: () => explore(eventsModel(deviation), statesMax),
  })),
].filter(({ name }) => name.includes(positionals[0] ?? ''));

let unexpected = 0;
for (const { name, breaks, model } of runs) {
  const started = performance.now();
  const found = model();
  const isExpected =
    breaks === undefined ? found.violation === undefined : found.violation?.includes(breaks) === true;
  if (!isExpected) unexpected++;
  process.stdout.write(
    `${isExpected ? 'ok  ' : 'NOT '}${name}\n      ${summary(found, performance.now() - started)}\n`,
  );
  if (found.trace.length > 0) process.stdout.write(`      ${found.trace.join(' → ')}\n`);
}
process.stdout.write(`${runs.length} runs, ${unexpected} not as expected\n`);
process.exitCode = unexpected === 0 && runs.length > 0 ? 0 : 1;

function summary({ violation, complete, states, steps, doneStates }: Exploration, ms: number): string {
  const verdict =
    violation ??
    (complete ? `holds, ends in ${doneStates} states` : 'nothing found so far: the limit was reached');
  return `${verdict}; ${states} states, ${steps} steps, ${(ms / 1_000).toFixed(1)} s`;
}
