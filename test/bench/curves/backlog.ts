import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from '../load/run-load.ts';
import type { Bench } from '../measure/measure.ts';
import { collectionSizes, ourBooks } from '../systems/books.ts';
import { memoryBytesOf } from '../systems/cpu.ts';
import { startSystem, systems } from '../systems/systems.ts';
import type { BacklogMoment, CurveResults } from './curves.ts';

const CONNECTIONS = 256;
const STRETCH_SECONDS = 10;
const MOMENT_MS = 500;
/** A backlog that does not drain at this rate does not drain. */
const PLANTS_PER_SECOND_MIN = 100;

/** Plants that were stored while no worker ran, and how fast one worker processes them, in how much memory. */
export async function measureBacklog(
  { ground, folder, say }: Bench,
  plants: number,
): Promise<CurveResults['backlog']> {
  await ground.empty();
  await ground.createIndexes();
  const running = await startSystem(systems.ours, ground, { folder, workers: false });
  try {
    let created = 0;
    while (created < plants) {
      const load = { url: running.url, token: ground.token, connections: CONNECTIONS };
      const seconds = Math.min(STRETCH_SECONDS, Math.max(1, (plants - created) / 10_000));
      const report = await runLoad({ ...load, seconds, firstId: created * 10 + 1 });
      if (report.refused + report.broken > 0) throw new Error('creates failed while no worker ran');
      created += report.created;
      say(`${created} plants stored while no worker runs`);
    }

    const moments: BacklogMoment[] = [];
    const look = async (started: number) => {
      const { stored, indexed } = await collectionSizes(ground.database);
      moments.push({
        seconds: (performance.now() - started) / 1_000,
        pending: stored - indexed,
        workerBytes: await memoryBytesOf(running.pids.worker ?? []),
        redisBytes: await memoryBytesOf([ground.pids().redis]),
      });
    };
    await running.startWorkers();
    const started = performance.now();
    const deadline = started + (created / PLANTS_PER_SECOND_MIN) * 1_000;
    await look(started);
    while (await ourBooks.isPending(ground.database)) {
      if (performance.now() > deadline) throw new Error('the backlog does not drain');
      await pause(MOMENT_MS);
      await look(started);
    }
    if (moments.at(-1)?.pending !== 0) await look(started);
    const seconds = (performance.now() - started) / 1_000;
    const { stored, indexed, audited } = await ourBooks.counts(ground.database);
    if (indexed !== stored || audited !== stored) {
      throw new Error(`${stored} plants, ${indexed} indexed, ${audited} audited`);
    }
    const waiting = moments[0]?.pending ?? created;
    return { plants: created, plantsPerSecond: waiting / seconds, moments };
  } finally {
    await running.stop();
  }
}
