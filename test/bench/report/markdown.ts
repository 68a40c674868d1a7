import type { Results } from '../measure/results.ts';
import type { CpuMs, Round } from '../measure/round.ts';
import { type Spread, spread } from '../measure/statistics.ts';
import { type Goal, goals } from './goals.ts';

/** The report of a run, for people. */
export function markdown(results: Results): string {
  const { machine, extent, mode, date, commit, minutes, voidRounds } = results;
  const { node, mongod, redis, generator, ...libraries } = machine.versions;
  return [
    '# Benchmark',
    '',
    `Measured ${date.slice(0, 16).replace('T', ' ')} UTC at commit ${commit} by ${mode === 'quick' ? '`npm run bench -- --quick`' : '`npm run bench`'} in ${minutes.toFixed(0)} minutes.`,
    `Machine: ${machine.cpu}, ${machine.cores} cores, ${gibibytes(machine.memoryBytes)} GiB, ${machine.os}; load before: ${machine.loadBefore.toFixed(1)}.`,
    `Node ${node}, MongoDB ${mongod}, Redis ${redis}, load by ${generator}; ${Object.entries(libraries)
      .map(([library, version]) => `${library} ${version}`)
      .join(', ')}.`,
    '',
    `Everyone in turn on the same servers, emptied before each; ${extent.rounds} rounds of ${extent.seconds} s${extent.furtherRounds < extent.rounds ? ` (${extent.furtherRounds} of what stands beside the pair)` : ''}, each until nothing is pending.`,
    'Median (range). Only ratios inside one run count.',
    '',
    ...goalTable(goals(results)),
    '',
    '## Where the CPU goes',
    '',
    'µs a plant, medians, from the first request until nothing is pending; the generator is no part of the sum.',
    '',
    ...cpuTable(results),
    '',
    '## Rates and latencies',
    '',
    ...rateTable(results),
    '',
    `Ceiling, a bare loop of insertMany with 500 plants each: ${show(spread(results.ceiling.map(({ plantsPerSecond }) => plantsPerSecond)), 0)} plants/s, ${show(spread(results.ceiling.map(({ mongodUsPerPlant }) => mongodUsPerPlant)), 1)} µs of mongod's CPU a plant.`,
    '',
    voidRounds.length === 0 ? 'No round was void.' : 'Void rounds, measured again:',
    ...voidRounds.map((round) => `- ${round}`),
    '',
  ].join('\n');
}

/** What the README shows: ratios and absolute figures of the headline. */
export function readmeTable(results: Results): string {
  const { machine, date } = results;
  const shown = goals(results).filter(({ id }) => /^[CSL]\d/.test(id));
  return [
    `Measured ${date.slice(0, 10)} on ${machine.cores} cores (${machine.cpu})${isBusy(machine) ? `, busy with other things (load ${machine.loadBefore.toFixed(0)})` : ''}, median and range of ${results.extent.rounds} pairs:`,
    '',
    '| | ours | plain | ours : plain |',
    '|---|---|---|---|',
    ...shown.map(
      ({ what, unit, ours, other, ratio }) =>
        `| ${what} | ${figure(ours.median)} ${unit} | ${figure(other?.value.median ?? Number.NaN)} ${unit} | ${inRatio(ratio)} |`,
    ),
  ].join('\n');
}

/** Ratios hold on a busy machine, absolute figures do not. */
function isBusy({ loadBefore, cores }: Results['machine']): boolean {
  return loadBefore > cores / 2;
}

export function goalTable(all: readonly Goal[]): string[] {
  return [
    '| | | ours | compared with | ratio | goal | |',
    '|---|---|---|---|---|---|---|',
    ...all.map(({ id, what, unit, ours, other, ratio, goal, reached }) => {
      const compared = other === undefined ? '–' : `${other.name}: ${inSpread(other.value)} ${unit}`;
      const shown = other === undefined ? '–' : inRatio(ratio);
      return `| ${id} | ${what} | ${inSpread(ours)} ${unit} | ${compared} | ${shown} | ${inGoal(goal, unit, other === undefined)} | ${reached ? 'reached' : 'missed'} |`;
    }),
  ];
}

const PARTS = ['api', 'worker', 'gateway', 'mongod', 'redis'] as const satisfies (keyof CpuMs)[];

function cpuTable({ rounds }: Results): string[] {
  const rows = Object.entries(rounds).flatMap(([series, lanes]) =>
    Object.entries(lanes).map(([lane, of]) => {
      const perPlant = (part: keyof CpuMs) =>
        spread(of.map(({ cpu, stored }) => ((cpu[part] ?? 0) * 1_000) / stored)).median;
      const generator = spread(of.map(({ cpuMs, created }) => (cpuMs * 1_000) / created)).median;
      const cells = [
        ...PARTS.map(perPlant),
        spread(of.map(({ cpuUsPerPlant }) => cpuUsPerPlant)).median,
        generator,
      ];
      return `| ${series} | ${lane} | ${cells.map((cell) => cell.toFixed(cell < 10 ? 1 : 0)).join(' | ')} |`;
    }),
  );
  return [
    `| series | system | ${PARTS.join(' | ')} | sum | generator |`,
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ];
}

function rateTable({ rounds }: Results): string[] {
  const rows = Object.entries(rounds).flatMap(([series, lanes]) =>
    Object.entries(lanes).map(([lane, of]) => {
      const cell = (pick: (round: Round) => number, digits: number) => show(spread(of.map(pick)), digits);
      const share = spread(of.map(({ cpuMs, seconds }) => cpuMs / seconds / 10)).median;
      return `| ${series} | ${lane} | ${cell((r) => r.creates, 0)} | ${cell((r) => r.processed, 0)} | ${cell((r) => r.p50Ms, 1)} | ${cell((r) => r.p99Ms, 1)} | ${share.toFixed(0)} % |`;
    }),
  );
  return [
    '| series | system | creates/s | stored, indexed and audited/s | p50, ms | p99, ms | generator, of one core |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ];
}

function inGoal(goal: Goal['goal'], unit: string, absolute: boolean): string {
  const [sign, value] = 'atMost' in goal ? ['≤', goal.atMost] : ['≥', goal.atLeast];
  if (absolute) return `${sign} ${value} ${unit}`;
  return value < 0.1 && Number.isInteger(Math.round(1e6 / value) / 1e6)
    ? `${sign} 1/${Math.round(1 / value)}`
    : `${sign} ${value}`;
}

/** Small ratios as parts of one: 1/15 says more than 0.067. */
function inRatio({ median, min, max }: Spread): string {
  const one = (ratio: number) => (ratio < 0.2 ? `1/${(1 / ratio).toFixed(1)}` : ratio.toFixed(2));
  return `${one(median)} (${one(min)} to ${one(max)})`;
}

function inSpread({ median, min, max }: Spread): string {
  return min === max ? figure(median) : `${figure(median)} (${figure(min)} to ${figure(max)})`;
}

function show({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`;
}

function figure(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}

function gibibytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(0);
}
