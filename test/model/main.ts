import { commandLine } from '../harness/command-line.ts';
import { eventsModel } from './events-model.ts';
import { eventsRuns } from './events-runs.ts';
import { type Exploration, explore } from './explore.ts';
import { recordResult } from './results.ts';
import { storageModel } from './storage-model.ts';
import { storageRuns } from './storage-runs.ts';

const USAGE = "npm run model -- [part of a run's name] [--long] [--record] [--states N]\n";

/**
 * Explores the protocol at the short scopes, and every deviation from it; with `--long`, or by name, the long scopes as
 * well. `--record` keeps each result in docs/model-results.md. Exit code 1 when a run ends otherwise than it must.
 */
const { values, positionals } = commandLine('model', USAGE, {
  allowPositionals: true,
  options: {
    states: { type: 'string', default: '12000000' },
    long: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const statesMax = Number(values.states);

if (values.help || positionals.length > 1 || !Number.isInteger(statesMax) || statesMax < 1) {
  process.stderr.write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const runs = [
  ...storageRuns.map(({ name, breaks, long, deviation }) => ({
    name: `storage: ${name}`,
    breaks,
    long,
    model: () => explore(storageModel(deviation), statesMax),
  })),
  ...eventsRuns.map(({ name, breaks, long, deviation }) => ({
    name: `events: ${name}`,
    breaks,
    long,
    model: () => explore(eventsModel(deviation), statesMax),
  })),
].filter(
  ({ name, long }) => name.includes(positionals[0] ?? '') && (!long || values.long || positionals.length > 0),
);

let unexpected = 0;
for (const { name, breaks, model } of runs) {
  const started = performance.now();
  const found = model();
  const isExpected =
    breaks === undefined ? found.violation === undefined : found.violation?.includes(breaks) === true;
  if (!isExpected) unexpected++;
  const ms = performance.now() - started;
  if (values.record) recordResult({ name, breaks, isExpected, found, ms });
  process.stdout.write(`${isExpected ? 'ok  ' : 'NOT '}${name}\n      ${summary(found, ms)}\n`);
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
