import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from '../load/run-load.ts';
import { ourBooks } from '../systems/books.ts';
import { memoryBytesOf } from '../systems/cpu.ts';
import type { Ground } from '../systems/ground.ts';
import { startSystem, systems } from '../systems/systems.ts';
import type { Memory } from './results.ts';

const FIRST_LOOK_PLANTS = 10_000;
const CONNECTIONS = 256;
const STRETCH_S = 10;
const POLL_MS = 50;

/** Memory of API and worker once ten thousand plants were created, and once all were, with nothing pending. */
export async function measureMemory(
  ground: Ground,
  folder: string,
  plantsInAll: number,
  progress: (plants: number) => void,
): Promise<{ before: Memory; after: Memory }> {
  await ground.empty();
  const running = await startSystem(systems.ours, ground, { folder });
  try {
    let plants = 0;
    const create = async (seconds: number) => {
      const load = { url: running.url, token: ground.token, connections: CONNECTIONS, seconds };
      const { created, refused, broken } = await runLoad({ ...load, firstId: plants * 10 + 1 });
      if (refused + broken > 0)
        throw new Error(`${refused + broken} creates failed while memory was measured`);
      plants += created;
      while (await ourBooks.isPending(ground.database)) await pause(POLL_MS);
      progress(plants);
    };
    const look = async (): Promise<Memory> => ({
      plants,
      api: await memoryBytesOf(running.pids.api ?? []),
      worker: await memoryBytesOf(running.pids.worker ?? []),
    });

    while (plants < FIRST_LOOK_PLANTS) await create(1);
    const before = await look();
    while (plants < plantsInAll) await create(STRETCH_S);
    return { before, after: await look() };
  } finally {
    await running.stop();
  }
}
