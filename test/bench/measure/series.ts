import { type SystemName, systems } from '../systems/systems.ts';
import type { RoundOptions } from './round.ts';

type Lane = { system: SystemName } & Partial<RoundOptions>;

/** Everything that is measured in turn. */
export const lanes = {
  ours: { system: 'ours' },
  plain: { system: 'plain' },
  nest: { system: 'nest' },
  express: { system: 'express' },
  floor: { system: 'floor' },
  'ours, 10 % duplicates': { system: 'ours', repeatEvery: 10 },
  'ours, Redis down': { system: 'ours', withoutRedis: true },
  'ours behind the gateway': { system: 'ours behind the gateway' },
  'two replicas behind the gateway': { system: 'two replicas behind the gateway' },
} as const satisfies Record<string, Lane>;

export type LaneName = keyof typeof lanes;

export const seriesNames = ['c64', 'c256', 'c1', 'open at plain', 'open at ours'] as const;
export type SeriesName = (typeof seriesNames)[number];

type Series = {
  name: SeriesName;
  connections: number;
  lanes: readonly LaneName[];
  /** Open loop at 70 % of what that one has processed in this run. */
  capacityOf?: 'plain' | 'ours';
  probes?: boolean;
};

const series: readonly Series[] = [
  { name: 'c64', connections: 64, lanes: ['ours', 'plain', 'nest', 'express'] },
  {
    name: 'c256',
    connections: 256,
    lanes: [
      'ours',
      'plain',
      'floor',
      'ours, 10 % duplicates',
      'ours, Redis down',
      'ours behind the gateway',
      'two replicas behind the gateway',
    ],
  },
  { name: 'c1', connections: 1, lanes: ['ours', 'plain'] },
  { name: 'open at plain', connections: 100, lanes: ['ours', 'plain'], capacityOf: 'plain' },
  { name: 'open at ours', connections: 256, lanes: ['ours'], capacityOf: 'ours', probes: true },
];

/** The share of a capacity at which an open loop is offered. */
export const OPEN_LOOP_SHARE = 0.7;

export type Mode = 'full' | 'quick';

export type Extent = {
  rounds: number;
  /** Of what only completes the picture: the lanes beside the pair, and the last series. */
  furtherRounds: number;
  seconds: number;
  warmUpSeconds: number;
  /** Creates between the two looks at memory; none, and they are left out. */
  plantsForMemory: number;
};

export const extents: Record<Mode, Extent> = {
  full: { rounds: 5, furtherRounds: 5, seconds: 6, warmUpSeconds: 2, plantsForMemory: 1_000_000 },
  quick: { rounds: 2, furtherRounds: 1, seconds: 3, warmUpSeconds: 1, plantsForMemory: 0 },
};

export type Turn = { series: Series; lane: LaneName; round: number };

/** Who is measured when: within each round of a series everyone once, so that what disturbs the machine meets all. */
export function turns({ rounds, furtherRounds }: Extent): Turn[] {
  return series.flatMap((one) =>
    Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
      one.lanes
        .filter((lane) => round <= (isOfThePair(one, lane) ? rounds : furtherRounds))
        .map((lane) => ({ series: one, lane, round })),
    ),
  );
}

function isOfThePair({ capacityOf }: Series, lane: LaneName): boolean {
  return capacityOf !== 'ours' && (lane === 'ours' || lane === 'plain');
}

export function systemOf(lane: LaneName) {
  return systems[lanes[lane].system];
}
