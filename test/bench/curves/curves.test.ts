import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ground, prepareGround } from '../systems/ground.ts';
import { measureBacklog } from './backlog.ts';
import { measureCommits } from './commits.ts';
import { measureStored } from './stored.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-'));
let ground: Ground;
beforeAll(async () => {
  ground = await prepareGround(folder, () => {});
});
afterAll(() => ground.close());
const bench = () => ({ ground, folder, say: () => {} });

test('a backlog is built without a worker, and measured until nothing of it is pending', async () => {
  const { plants, plantsPerSecond, moments } = await measureBacklog(bench(), 100);
  expect(plants).toBeGreaterThanOrEqual(100);
  expect(moments[0]?.pending).toBe(plants);
  expect(moments.at(-1)?.pending).toBe(0);
  expect(plantsPerSecond).toBeGreaterThan(0);
  for (const { workerBytes, redisBytes } of moments) {
    expect(workerBytes).toBeGreaterThan(0);
    expect(redisBytes).toBeGreaterThan(0);
  }
});

test('plants are stored until a mark is reached, and what one costs there is measured', async () => {
  const extent = { rounds: 1, seconds: 0.2, stored: [50, 500], backlogPlants: 0 };
  const points = await measureStored(bench(), extent);
  expect(points.map(({ x }) => x)).toEqual([50, 500]);
  for (const { cpuUs } of points) {
    expect(Object.keys(cpuUs).toSorted()).toEqual(['api', 'mongod', 'redis', 'worker']);
  }
  expect(await ground.database.collection('plants').countDocuments()).toBeGreaterThan(500);
});

test('an insert costs less a plant the more plants it holds', async () => {
  const points = await measureCommits(ground, 0.1);
  const perPlant = points.map(({ cpuUs: { api = 0, mongod = 0 } }) => api + mongod);
  expect(points.at(-1)?.x).toBe(500);
  expect(perPlant.at(-1)).toBeLessThan(perPlant[0] as number);
});
