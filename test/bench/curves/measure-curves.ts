import { currentCommit, describeMachine } from '../measure/machine.ts';
import type { Bench } from '../measure/measure.ts';
import { type CpuMs, measureRound, type Round } from '../measure/round.ts';
import type { Mode } from '../measure/series.ts';
import { spread } from '../measure/statistics.ts';
import { systems } from '../systems/systems.ts';
import { measureBacklog } from './backlog.ts';
import { measureCommits } from './commits.ts';
import { type Curve, type CurvePoint, type CurveResults, curveExtents, curves } from './curves.ts';
import { measureStored } from './stored.ts';

const CONNECTIONS = 256;
const WARM_UP_SECONDS = 2;

/** How the cost of a plant grows: every curve, one after the other. */
export async function measureCurves(mode: Mode, bench: Bench): Promise<CurveResults> {
  const extent = curveExtents[mode];
  const { ground, say } = bench;
  const machine = await describeMachine(ground);
  const measured = {} as CurveResults['curves'];
  const shown = (name: string, points: readonly CurvePoint[]) => {
    for (const point of points) say(`${name} ${point.x}: ${inWords(point)}`);
    return [...points];
  };

  for (const [name, curve] of Object.entries(curves)) {
    measured[name as keyof typeof curves] = [];
    for (const point of (curve as Curve).points) {
      const rounds: Round[] = [];
      for (let round = 0; round < extent.rounds; round++) {
        const options = { connections: CONNECTIONS, seconds: extent.seconds, warmUpSeconds: WARM_UP_SECONDS };
        rounds.push(
          await measureRound(point.system ?? systems.ours, ground, bench.folder, {
            ...options,
            ...point.options,
          }),
        );
      }
      measured[name as keyof typeof curves].push(...shown(name, [toPoint(point.x, rounds)]));
    }
  }
  measured.commits = shown('commits of', await measureCommits(ground, extent.seconds));
  measured.stored = shown('stored', await measureStored(bench, extent));
  const backlog = await measureBacklog(bench, extent.backlogPlants);
  say(`backlog of ${backlog.plants}: ${Math.round(backlog.plantsPerSecond)} plants/s`);
  return { date: new Date().toISOString(), commit: currentCommit(), machine, curves: measured, backlog };
}

/** The median of several rounds. */
function toPoint(x: number, rounds: readonly Round[]): CurvePoint {
  const median = (of: (round: Round) => number) => spread(rounds.map(of)).median;
  const parts = Object.keys(rounds[0]?.cpu ?? {}) as (keyof CpuMs)[];
  const usOf = (part: keyof CpuMs) => median(({ cpu, stored }) => ((cpu[part] ?? 0) * 1_000) / stored);
  return {
    x,
    cpuUs: Object.fromEntries(parts.map((part) => [part, usOf(part)])),
    plantsPerSecond: median(({ processed }) => processed),
    p50Ms: median(({ p50Ms }) => p50Ms),
    p99Ms: median(({ p99Ms }) => p99Ms),
    memoryBytes: {
      api: median(({ memoryBytes }) => memoryBytes.api),
      worker: median(({ memoryBytes }) => memoryBytes.worker),
    },
  };
}

function inWords({ cpuUs, plantsPerSecond }: CurvePoint): string {
  const sum = Object.values(cpuUs).reduce((all, us) => all + us, 0);
  return `${Math.round(sum)} µs of CPU a plant, ${Math.round(plantsPerSecond)} plants/s`;
}
