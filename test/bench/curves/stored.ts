import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from '../load/run-load.ts';
import type { Bench } from '../measure/measure.ts';
import { type CpuMs, cpuNow } from '../measure/round.ts';
import { ourBooks } from '../systems/books.ts';
import { memoryBytesOf } from '../systems/cpu.ts';
import { startSystem, systems } from '../systems/systems.ts';
import type { CurveExtent, CurvePoint } from './curves.ts';

const CONNECTIONS = 256;
const FILL_SECONDS = 10;
const POLL_MS = 20;

/**
 * What a plant costs once so many are stored, indexed and audited: one system that is filled by creates, and measured
 * for a while at each mark.
 */
export async function measureStored(
  { ground, folder, say }: Bench,
  { stored, seconds }: CurveExtent,
): Promise<CurvePoint[]> {
  await ground.empty();
  const running = await startSystem(systems.ours, ground, { folder });
  const points: CurvePoint[] = [];
  let plants = 0;

  async function create(forSeconds: number): Promise<CurvePoint> {
    const before = await cpuNow(running, ground);
    const load = { url: running.url, token: ground.token, connections: CONNECTIONS, seconds: forSeconds };
    const report = await runLoad({ ...load, firstId: plants * 10 + 1 });
    while (await ourBooks.isPending(ground.database)) await pause(POLL_MS);
    const elapsedSeconds = (Date.now() - report.startedMs) / 1_000;
    if (report.refused + report.broken > 0) throw new Error('creates failed while plants were stored');
    plants += report.created;
    const after = await cpuNow(running, ground);
    const parts = Object.keys(after) as (keyof CpuMs)[];
    const usOf = (part: keyof CpuMs) => (((after[part] ?? 0) - (before[part] ?? 0)) * 1_000) / report.created;
    return {
      x: plants,
      cpuUs: Object.fromEntries(parts.map((part) => [part, usOf(part)])),
      plantsPerSecond: report.created / elapsedSeconds,
      p50Ms: report.p50Ms,
      p99Ms: report.p99Ms,
      memoryBytes: {
        api: await memoryBytesOf(running.pids.api ?? []),
        worker: await memoryBytesOf(running.pids.worker ?? []),
      },
    };
  }

  try {
    for (const mark of stored) {
      while (plants < mark) {
        const { plantsPerSecond } = await create(
          Math.min(FILL_SECONDS, Math.max(1, (mark - plants) / 10_000)),
        );
        say(`${plants} plants stored, ${Math.round(plantsPerSecond)} plants/s`);
      }
      points.push({ ...(await create(seconds)), x: mark });
    }
    return points;
  } finally {
    await running.stop();
  }
}
