import type { Ground } from '../systems/ground.ts';
import { measureCeiling } from './ceiling.ts';
import { currentCommit, describeMachine } from './machine.ts';
import { measureMemory } from './memory.ts';
import type { Results } from './results.ts';
import { measureRound, type Round, VoidRound } from './round.ts';
import {
  extents,
  lanes,
  type Mode,
  OPEN_LOOP_SHARE,
  seriesNames,
  systemOf,
  type Turn,
  turns,
} from './series.ts';
import { spread } from './statistics.ts';

/** A round that does not count is repeated so often; then the run itself is void. */
const REPEATS_MAX = 2;
const CEILING_SECONDS = 2;

export type Bench = { ground: Ground; folder: string; say: (line: string) => void };

/**
 * The whole benchmark: everyone in turn, then what is measured once.
 * @throws VoidRound when a round did not count however often it was repeated.
 */
export async function measure(mode: Mode, bench: Bench): Promise<Results> {
  const { ground, folder, say } = bench;
  const extent = extents[mode];
  const started = performance.now();
  const results: Results = {
    date: new Date().toISOString(),
    commit: currentCommit(),
    mode,
    minutes: 0,
    machine: await describeMachine(ground),
    extent,
    rounds: Object.fromEntries(seriesNames.map((name) => [name, {}])) as Results['rounds'],
    ceiling: [],
    voidRounds: [],
  };

  const all = turns(extent);
  for (const [index, turn] of all.entries()) {
    const round = await repeatedWhenVoid(turn, results, bench);
    const { [turn.series.name]: ofSeries } = results.rounds;
    ofSeries[turn.lane] = [...(ofSeries[turn.lane] ?? []), round];
    const minutes = (performance.now() - started) / 60_000;
    const left = Math.ceil((minutes / (index + 1)) * (all.length - index - 1));
    say(`[${index + 1}/${all.length}, ${left} min left] ${name(turn)}: ${inWords(round)}`);
  }
  for (let round = 1; round <= extent.rounds; round++) {
    results.ceiling.push(await measureCeiling(ground, CEILING_SECONDS));
  }
  if (extent.plantsForMemory > 0) {
    const progress = (plants: number) => say(`memory: ${plants} of ${extent.plantsForMemory} plants created`);
    results.memory = await measureMemory(ground, folder, extent.plantsForMemory, progress);
  }
  results.minutes = (performance.now() - started) / 60_000;
  return results;
}

async function repeatedWhenVoid(turn: Turn, results: Results, bench: Bench): Promise<Round> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await measureTurn(turn, results, bench);
    } catch (error) {
      if (!(error instanceof VoidRound) || repeats === REPEATS_MAX) throw error;
      results.voidRounds.push(`${name(turn)}: ${error.message}`);
      bench.say(`void, measured again: ${results.voidRounds.at(-1)}`);
    }
  }
}

function measureTurn({ series, lane }: Turn, results: Results, { ground, folder }: Bench): Promise<Round> {
  const { system: _, ...ofLane } = lanes[lane];
  const { seconds, warmUpSeconds } = results.extent;
  return measureRound(systemOf(lane), ground, folder, {
    ...{ connections: series.connections, seconds, warmUpSeconds, ...ofLane },
    ...(series.capacityOf && { rate: OPEN_LOOP_SHARE * capacity(results, series.capacityOf) }),
    ...(series.probes && { probes: true }),
  });
}

/** The best rate that was processed: one that leaves a backlog behind is not a rate. */
function capacity({ rounds }: Results, lane: 'ours' | 'plain'): number {
  const rates = [rounds.c64[lane], rounds.c256[lane]].map(
    (of = []) => spread(of.map(({ processed }) => processed)).median,
  );
  return Math.max(...rates);
}

function name({ series, lane, round }: Turn): string {
  const { connections, capacityOf } = series;
  const load =
    capacityOf === undefined ? '' : ` at 70 % of ${capacityOf === 'ours' ? 'our' : 'plain’s'} capacity`;
  return `${connections} connection${connections > 1 ? 's' : ''}${load}, round ${round}, ${lane}`;
}

function inWords({ processed, cpuUsPerPlant, p50Ms, p99Ms, lagMs }: Round): string {
  const latency = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  const lag = lagMs === undefined ? '' : `, searchable and audited after ${lagMs.p99.toFixed(0)} ms at p99`;
  return `${Math.round(processed)} plants/s, ${Math.round(cpuUsPerPlant)} µs of CPU a plant, ${latency}${lag}`;
}
