import type { Results } from '../measure/results.ts';
import type { Round } from '../measure/round.ts';
import type { LaneName, SeriesName } from '../measure/series.ts';
import { type Spread, spread } from '../measure/statistics.ts';

/** A ratio of the benchmark, as measured in one run. */
export type Goal = {
  id: string;
  what: string;
  unit: 'µs' | 'plants/s' | 'creates/s' | 'ms' | 'MB';
  ours: Spread;
  /** What ours is compared with; a goal without it is absolute. */
  other?: { name: string; value: Spread };
  /** Ours by the other's, round by round; the absolute figure where there is no other. */
  ratio: Spread;
  goal: { atMost: number } | { atLeast: number };
  reached: boolean;
};

type Definition = Pick<Goal, 'id' | 'what' | 'unit' | 'goal'> & {
  series: SeriesName;
  of: (round: Round) => number;
  /** Default: ours against plain. */
  lanes?: { ours: LaneName; other?: LaneName };
};

const cpuPerPlant = (round: Round) => round.cpuUsPerPlant;
const processed = (round: Round) => round.processed;
const creates = (round: Round) => round.creates;
const apiCpu = (round: Round) => ((round.cpu.api ?? 0) * 1_000) / round.created;
const CPU = 'CPU a plant, all processes, until nothing is pending';
const RATE = 'plants stored, indexed and audited';

const definitions: readonly Definition[] = [
  {
    id: 'C64',
    what: `${CPU}, 64 connections`,
    unit: 'µs',
    series: 'c64',
    of: cpuPerPlant,
    goal: { atMost: 1 / 13 },
  },
  {
    id: 'C256',
    what: `${CPU}, 256 connections`,
    unit: 'µs',
    series: 'c256',
    of: cpuPerPlant,
    goal: { atMost: 1 / 16 },
  },
  {
    id: 'C1',
    what: `${CPU}, one connection`,
    unit: 'µs',
    series: 'c1',
    of: cpuPerPlant,
    goal: { atMost: 0.35 },
  },
  {
    id: 'S64',
    what: `${RATE}, 64 connections`,
    unit: 'plants/s',
    series: 'c64',
    of: processed,
    goal: { atLeast: 10 },
  },
  {
    id: 'S256',
    what: `${RATE}, 256 connections`,
    unit: 'plants/s',
    series: 'c256',
    of: processed,
    goal: { atLeast: 14 },
  },
  {
    id: 'L1',
    what: 'p50, one connection',
    unit: 'ms',
    series: 'c1',
    of: (round) => round.p50Ms,
    goal: { atMost: 0.6 },
  },
  {
    id: 'L64',
    what: 'p99, 64 connections',
    unit: 'ms',
    series: 'c64',
    of: (round) => round.p99Ms,
    goal: { atMost: 0.08 },
  },
  {
    id: 'B5',
    what: 'p99, open loop at 70 % of plain’s capacity, 100 connections',
    ...{ unit: 'ms', series: 'open at plain', of: (round) => round.p99Ms, goal: { atMost: 0.2 } },
  },
  {
    id: 'B6',
    what: 'the API’s CPU a create, 256 connections: against a store that answers at once',
    ...{ unit: 'µs', series: 'c256', of: apiCpu, goal: { atMost: 1.2 } },
    lanes: { ours: 'ours', other: 'floor' },
  },
  {
    id: 'B7',
    what: 'CPU a plant with 10 % duplicate ids: against none, 256 connections',
    ...{ unit: 'µs', series: 'c256', of: cpuPerPlant, goal: { atMost: 1.15 } },
    lanes: { ours: 'ours, 10 % duplicates', other: 'ours' },
  },
  {
    id: 'B8',
    what: 'from the 200 to searchable and audited, p99, open loop at 70 % of our capacity',
    ...{
      unit: 'ms',
      series: 'open at ours',
      of: (round) => round.lagMs?.p99 ?? Number.NaN,
      goal: { atMost: 250 },
    },
    lanes: { ours: 'ours' },
  },
  {
    id: 'B9',
    what: 'creates while Redis is down: against Redis up, 256 connections',
    ...{ unit: 'creates/s', series: 'c256', of: creates, goal: { atLeast: 1 } },
    lanes: { ours: 'ours, Redis down', other: 'ours' },
  },
  {
    id: 'B10',
    what: 'creates with two API replicas behind the gateway: against one without, 256 connections',
    ...{ unit: 'creates/s', series: 'c256', of: creates, goal: { atLeast: 0.8 } },
    lanes: { ours: 'two replicas behind the gateway', other: 'ours' },
  },
  ...(['nest', 'express'] as const).flatMap((other): Definition[] => [
    {
      id: `B11 ${other}, C64`,
      what: `${CPU}, 64 connections`,
      ...{
        unit: 'µs',
        series: 'c64',
        of: cpuPerPlant,
        goal: { atMost: 1 / 18 },
        lanes: { ours: 'ours', other },
      },
    },
    {
      id: `B11 ${other}, S64`,
      what: `${RATE}, 64 connections`,
      ...{
        unit: 'plants/s',
        series: 'c64',
        of: processed,
        goal: { atLeast: 14 },
        lanes: { ours: 'ours', other },
      },
    },
  ]),
];

/** Every goal that the run has figures for. */
export function goals(results: Results): Goal[] {
  return [...definitions.flatMap((definition) => goalOf(definition, results)), ...memoryGoals(results)];
}

function goalOf({ series, of, lanes, ...rest }: Definition, { rounds }: Results): Goal[] {
  const { ours: ourLane, other: otherLane } = lanes ?? { ours: 'ours', other: 'plain' };
  const ours = (rounds[series][ourLane] ?? []).map(of);
  const others = otherLane === undefined ? undefined : (rounds[series][otherLane] ?? []).map(of);
  const pairs = Math.min(ours.length, others?.length ?? Number.POSITIVE_INFINITY);
  if (pairs === 0) return [];
  const ratio = spread(ours.slice(0, pairs).map((value, round) => value / (others?.[round] ?? 1)));
  return [
    {
      ...rest,
      ours: spread(ours),
      ...(otherLane && others && { other: { name: otherLane, value: spread(others) } }),
      ratio,
      reached: isReached(ratio.median, rest.goal),
    },
  ];
}

function memoryGoals({ memory }: Results): Goal[] {
  if (memory === undefined) return [];
  return (['api', 'worker'] as const).map((part) => {
    const [before, after] = [memory.before[part] / 2 ** 20, memory.after[part] / 2 ** 20];
    const ratio = spread([after / before]);
    const goal = { atMost: 1.2 };
    return {
      id: `B12 ${part}`,
      what: `memory of the ${part} after ${memory.after.plants} creates: against ${memory.before.plants}`,
      unit: 'MB',
      ours: spread([after]),
      other: { name: 'before', value: spread([before]) },
      ratio,
      goal,
      reached: isReached(ratio.median, goal),
    };
  });
}

function isReached(ratio: number, goal: Goal['goal']): boolean {
  return 'atMost' in goal ? ratio <= goal.atMost : ratio >= goal.atLeast;
}

/** What continuous integration guards: not a timed test, it fails only where a goal is missed by a factor of two. */
export const guarded = ['C64', 'C256', 'C1'];

export function farBeyond({ ratio, goal }: Goal): boolean {
  return 'atMost' in goal ? ratio.median > 2 * goal.atMost : ratio.median < goal.atLeast / 2;
}
