import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { type CurvePoint, type CurveResults, curves } from './curves.ts';

const SIZE = { width: 220, height: 180 };
const PARTS = ['api', 'worker', 'mongod', 'redis'];
const MEBIBYTE = 2 ** 20;

/** Every plot as SVG, by its name. */
export async function plots(results: CurveResults): Promise<Record<string, string>> {
  const { stored, commits, ...rounds } = results.curves;
  const specs: Record<string, TopLevelSpec> = {
    stored: costOf('More plants stored', 'plants stored', stored),
    commits: {
      title: 'Larger commits: one insert by the API’s adapter, one after the other',
      hconcat: [
        cpuBars('plants of a commit', commits),
        line('plants of a commit', 'ms an insert', commits, 'p50Ms'),
      ],
    },
    backlog: backlogOf(results.backlog),
  };
  for (const [name, points] of Object.entries(rounds)) {
    const { title, axis } = curves[name as keyof typeof curves];
    specs[name] = costOf(title, axis, points);
  }
  const drawn = Object.entries(specs).map(async ([name, spec]) => [name, await toSvg(spec)] as const);
  return Object.fromEntries(await Promise.all(drawn));
}

function costOf(title: string, axis: string, points: readonly CurvePoint[]): TopLevelSpec {
  return {
    title,
    hconcat: [
      cpuBars(axis, points),
      line(axis, 'plants/s', points, 'plantsPerSecond'),
      line(axis, 'p99, ms', points, 'p99Ms'),
    ],
  };
}

/** Steps of equal width whatever lies between the points; they keep the order in which they were measured. */
const stepsOf = (axis: string) => ({
  field: 'x',
  type: 'ordinal' as const,
  sort: null,
  title: axis,
  axis: { labelAngle: 0 },
});

function cpuBars(axis: string, points: readonly CurvePoint[]) {
  const values = points.flatMap(({ x, cpuUs }) =>
    PARTS.filter((part) => part in cpuUs).map((part, order) => ({
      x: short(x),
      part,
      order,
      us: cpuUs[part as keyof typeof cpuUs],
    })),
  );
  return {
    ...SIZE,
    data: { values },
    mark: 'bar' as const,
    encoding: {
      x: stepsOf(axis),
      y: { field: 'us', type: 'quantitative' as const, title: 'µs of CPU a plant' },
      color: { field: 'part', type: 'nominal' as const, sort: PARTS, title: null },
      order: { field: 'order', type: 'quantitative' as const },
    },
  };
}

function line(
  axis: string,
  title: string,
  points: readonly CurvePoint[],
  field: 'plantsPerSecond' | 'p50Ms' | 'p99Ms',
) {
  return {
    ...SIZE,
    data: { values: points.map((point) => ({ x: short(point.x), y: point[field] })) },
    mark: { type: 'line' as const, point: true },
    encoding: { x: stepsOf(axis), y: { field: 'y', type: 'quantitative' as const, title } },
  };
}

function backlogOf({ plants, moments }: CurveResults['backlog']): TopLevelSpec {
  const x = { field: 'seconds', type: 'quantitative' as const, title: 's since the worker was started' };
  const memory = moments.flatMap(({ seconds, workerBytes, redisBytes }) => [
    { seconds, part: 'worker', mebibytes: workerBytes / MEBIBYTE },
    { seconds, part: 'redis', mebibytes: redisBytes / MEBIBYTE },
  ]);
  return {
    title: `A backlog of ${short(plants)} plants drains`,
    hconcat: [
      {
        ...SIZE,
        data: { values: moments },
        mark: 'line',
        encoding: { x, y: { field: 'pending', type: 'quantitative', title: 'plants pending' } },
      },
      {
        ...SIZE,
        data: { values: memory },
        mark: 'line',
        encoding: {
          x,
          y: { field: 'mebibytes', type: 'quantitative', title: 'memory, MiB' },
          color: { field: 'part', type: 'nominal', sort: PARTS, title: null },
        },
      },
    ],
  };
}

/** 5000000 as 5M. */
function short(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

async function toSvg(spec: TopLevelSpec): Promise<string> {
  const { spec: compiled } = compile({ background: 'white', ...spec });
  return `${await new View(parse(compiled), { renderer: 'none' }).toSVG()}\n`;
}
