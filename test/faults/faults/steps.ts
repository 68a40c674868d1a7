import { setTimeout as sleep } from 'node:timers/promises';
import type { HeldStep, Step } from '../../harness/network/steps.ts';
import { underLoadMs } from '../../harness/wait-for.ts';
import type { Service } from '../system/service.ts';

const REACHED_MS_MAX = 10_000;

type ProcessStep = Omit<Step, 'client'>;

/** Waits until a command is held. @throws Error naming the step: then the fault did not happen, and the row is no proof. */
export async function reachedBy(held: HeldStep, what: string, withinMs = REACHED_MS_MAX): Promise<void> {
  const late = new AbortController();
  const limitMs = underLoadMs(withinMs);
  const timeout = sleep(limitMs, 'late' as const, { signal: late.signal }).catch(() => undefined);
  if ((await Promise.race([held.reached, timeout])) === 'late') {
    held.release();
    throw new Error(`not within ${limitMs} ms: ${what}`);
  }
  late.abort();
}

/** Waits until one of the processes comes to the step, where it is held. */
export async function anyReaches(
  services: readonly Service[],
  step: ProcessStep,
): Promise<{ service: Service; held: HeldStep }> {
  const armed = services.map((service) => ({ service, held: service.hold(step) }));
  const what = `the ${step.at} of ${step.command} ${step.collection ?? ''}`;
  const first = await Promise.race(
    armed.map(async (each) => {
      await reachedBy(each.held, what);
      return each;
    }),
  );
  for (const each of armed) if (each !== first) each.held.release();
  return first;
}

/** Kills a process exactly there: whatever was held is lost with it. */
export async function killAt(services: readonly Service[], step: ProcessStep): Promise<Service> {
  const { service, held } = await anyReaches(services, step);
  await service.kill();
  held.lose();
  return service;
}

/** Holds every command that comes to the step, until they are all passed on, late. */
export function holdAll(service: Service, step: ProcessStep): { first: HeldStep; release: () => void } {
  const held: HeldStep[] = [];
  let isOver = false;
  const arm = (): HeldStep => {
    const one = service.hold(step);
    held.push(one);
    void one.reached.then(() => {
      if (!isOver) arm();
    });
    return one;
  };
  return {
    first: arm(),
    release: () => {
      isOver = true;
      for (const one of held) one.release();
    },
  };
}
