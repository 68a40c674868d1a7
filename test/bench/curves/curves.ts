import type { Machine } from '../measure/machine.ts';
import type { CpuMs, RoundOptions } from '../measure/round.ts';
import { type System, systems } from '../systems/systems.ts';

/** How the cost of a plant grows with one thing, all else as usual. */
export type Curve = {
  title: string;
  /** What grows. */
  axis: string;
  points: readonly { x: number; system?: System; options?: Partial<RoundOptions> }[];
};

const { ours } = systems;
const REPLICAS = [1, 2, 4];

/** Curves whose points are rounds of their own, at 256 connections unless they say otherwise. */
export const curves = {
  connections: {
    title: 'More connections',
    axis: 'connections',
    points: [1, 4, 16, 64, 256, 1_000].map((x) => ({ x, options: { connections: x } })),
  },
  replicas: {
    title: 'More API replicas on two cores',
    axis: 'API replicas',
    points: REPLICAS.map((x) => ({ x, system: { ...ours, apiReplicas: x } })),
  },
  workers: {
    title: 'More workers on two cores',
    axis: 'workers',
    points: REPLICAS.map((x) => ({ x, system: { ...ours, workerReplicas: x } })),
  },
  names: {
    title: 'Longer names',
    axis: 'bytes of a name',
    points: [10, 100, 1_000, 10_000].map((x) => ({ x, options: { nameBytes: x, connections: 64 } })),
  },
} as const satisfies Record<string, Curve>;

/** What a plant costs at one point. */
export type CurvePoint = {
  x: number;
  /** CPU of each process a plant. */
  cpuUs: CpuMs;
  plantsPerSecond: number;
  p50Ms?: number;
  p99Ms?: number;
  memoryBytes?: { api: number; worker: number };
};

/** A moment of a backlog that drains. */
export type BacklogMoment = { seconds: number; pending: number; workerBytes: number; redisBytes: number };

export type CurveResults = {
  date: string;
  commit: string;
  machine: Machine;
  curves: Record<keyof typeof curves | 'stored' | 'commits', CurvePoint[]>;
  backlog: { plants: number; plantsPerSecond: number; moments: BacklogMoment[] };
};

export type CurveExtent = {
  rounds: number;
  seconds: number;
  /** Plants stored at which a stretch is measured. */
  stored: readonly number[];
  backlogPlants: number;
};

export const curveExtents = {
  full: {
    rounds: 2,
    seconds: 4,
    stored: [1e4, 1e5, 5e5, 1e6, 2e6, 3e6, 4e6, 5e6],
    backlogPlants: 1_000_000,
  },
  quick: { rounds: 1, seconds: 2, stored: [1e4, 3e4], backlogPlants: 20_000 },
} as const satisfies Record<string, CurveExtent>;
