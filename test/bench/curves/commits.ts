import { createMongoClient } from '@plant-store/platform/mongo/mongo';
import { ObjectId } from 'mongodb';
import type { Creation } from '../../../services/api/src/domain/creation.ts';
import { mongoPlants } from '../../../services/api/src/storage/mongo-plants.ts';
import { cpuMsOf } from '../systems/cpu.ts';
import type { Ground } from '../systems/ground.ts';
import type { CurvePoint } from './curves.ts';

const COMMIT_PLANTS = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const INSERT_MS_MAX = 4_000;

/** What one insert costs by the number of its plants: the API's own adapter, one commit after the other. */
export async function measureCommits(ground: Ground, seconds: number): Promise<CurvePoint[]> {
  const client = createMongoClient(ground.environment.MONGODB_URL, 'bench');
  await client.connect();
  try {
    const database = ground.database.databaseName;
    const store = mongoPlants({
      client,
      database,
      instance: 'bench',
      onInserted: () => {},
      onReadFailed: () => {},
    });
    const points: CurvePoint[] = [];
    for (const size of COMMIT_PLANTS) {
      await ground.empty();
      await ground.createIndexes();
      points.push(await measureSize(ground, store, size, seconds));
    }
    return points;
  } finally {
    await client.close();
  }
}

async function measureSize(
  ground: Ground,
  store: ReturnType<typeof mongoPlants>,
  size: number,
  seconds: number,
): Promise<CurvePoint> {
  const { mongod } = ground.pids();
  const before = { mongod: await cpuMsOf([mongod]), own: process.cpuUsage() };
  const started = performance.now();
  let plants = 0;
  while (performance.now() - started < seconds * 1_000) {
    const creations = Array.from({ length: size }, () => creation(BigInt(++plants)));
    const commit = { id: new ObjectId().toHexString(), created: new Date() };
    const report = await store.insert(commit, creations, INSERT_MS_MAX);
    if (!report.sent || report.occupied === 'unknown') throw new Error(`a commit failed: ${report.reason}`);
  }
  const elapsedMs = performance.now() - started;
  const own = process.cpuUsage(before.own);
  return {
    x: size,
    cpuUs: {
      api: (own.user + own.system) / plants,
      mongod: (((await cpuMsOf([mongod])) - before.mongod) * 1_000) / plants,
    },
    plantsPerSecond: plants / (elapsedMs / 1_000),
    p50Ms: elapsedMs / (plants / size),
  };
}

function creation(id: bigint): Creation {
  return {
    plant: { id, name: `Plant ${id}`, tag: 'bench' },
    principal: { subject: 'bench' },
    origin: { address: '127.0.0.1', request: `request-${id}`, requestBy: 'api' },
    deadline: performance.now() + INSERT_MS_MAX,
  };
}
