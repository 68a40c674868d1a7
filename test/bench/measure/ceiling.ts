import { Long } from 'mongodb';
import { durable } from '../rivals/environment.ts';
import { cpuMsOf } from '../systems/cpu.ts';
import type { Ground } from '../systems/ground.ts';
import type { Ceiling } from './results.ts';

const PLANTS_AT_ONCE = 500;

/** A bare driver loop of insertMany: what the database takes at best, with the same write concern. */
export async function measureCeiling(ground: Ground, seconds: number): Promise<Ceiling> {
  await ground.empty();
  const plants = ground.database.collection<{ _id: Long }>('plants', { writeConcern: durable });
  const { mongod } = ground.pids();
  const cpuBefore = await cpuMsOf([mongod]);
  const started = performance.now();
  let id = 0;
  while (performance.now() - started < seconds * 1_000) {
    const documents = Array.from({ length: PLANTS_AT_ONCE }, () => {
      id++;
      return { _id: Long.fromNumber(id), name: `Plant ${id}`, tag: 'bench', created: new Date() };
    });
    await plants.insertMany(documents, { ordered: false });
  }
  const cpuMs = (await cpuMsOf([mongod])) - cpuBefore;
  return {
    plantsPerSecond: id / ((performance.now() - started) / 1_000),
    mongodUsPerPlant: (cpuMs * 1_000) / id,
  };
}
