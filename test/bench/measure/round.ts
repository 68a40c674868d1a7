import { setTimeout as pause } from 'node:timers/promises';
import type { Load, LoadReport } from '../load/load.ts';
import { runLoad } from '../load/run-load.ts';
import type { Counts } from '../systems/books.ts';
import { cpuMsOf, memoryBytesOf } from '../systems/cpu.ts';
import type { Ground } from '../systems/ground.ts';
import { type Part, type RunningSystem, type System, startSystem } from '../systems/systems.ts';
import { startProbes } from './probes.ts';

const POLL_MS = 20;
const PENDING_MS_MAX = 300_000;
/** Measured ids begin far above those of the warm-up. */
const FIRST_ID = 1_000_000_000;
const WARM_UP_FIRST_ID = 1;
/** One connection alone sends too little to have the code compiled that a service runs after its first minutes. */
const WARM_UP_CONNECTIONS_MIN = 64;
/** The share of an open loop's rate that has to be offered. */
const OFFERED_MIN = 0.99;

export type RoundOptions = Pick<Load, 'connections' | 'seconds' | 'rate' | 'repeatEvery' | 'nameBytes'> & {
  warmUpSeconds: number;
  /** Redis is down while creates are offered; the round then ends with the last answer. */
  withoutRedis?: boolean;
  /** Measures how long plants take from the answer until they are searchable and audited. */
  probes?: boolean;
};

export type CpuMs = Partial<Record<Part | 'mongod' | 'redis', number>>;

/** What one round of one system showed. */
export type Round = LoadReport & {
  /** Plants that the database holds of it. */
  stored: number;
  /** From the first request until nothing was pending. */
  totalSeconds: number;
  creates: number;
  processed: number;
  /** CPU in that time. */
  cpu: CpuMs;
  cpuUsPerPlant: number;
  memoryBytes: { api: number; worker: number };
  /** From the 200 until indexed and audited. */
  lagMs?: { p50: number; p99: number; plants: number };
};

/** The round must not count: what it measured is not what it says. */
export class VoidRound extends Error {
  override readonly name = 'VoidRound';
}

/**
 * One round of one system: from an empty database and queue, after a warm-up, until everything it stored is processed.
 * @throws VoidRound when not every answer was a 200, or the database holds something else than the answers say.
 */
export async function measureRound(
  system: System,
  ground: Ground,
  folder: string,
  options: RoundOptions,
): Promise<Round> {
  await ground.empty();
  const running = await startSystem(system, ground, { folder });
  try {
    const { warmUpSeconds, withoutRedis = false, probes = false, ...shape } = options;
    const load: Load = { url: running.url, token: ground.token, firstId: FIRST_ID, ...shape };
    const { rate: _, repeatEvery: __, ...warmUp } = load;
    const connections = Math.max(load.connections, WARM_UP_CONNECTIONS_MIN);
    await runLoad({ ...warmUp, connections, seconds: warmUpSeconds, firstId: WARM_UP_FIRST_ID });
    await nothingPending(system, ground);
    const before = await counts(system, ground);

    if (withoutRedis) await ground.stopRedis();
    const cpuBefore = await cpuNow(running, ground);
    const probing = probes ? startProbes(running.url, ground) : undefined;
    const report = await runLoad(load);
    const probed = await probing?.stop();
    const endMs = withoutRedis ? report.answeredMs : await nothingPending(system, ground);
    const cpu = difference(await cpuNow(running, ground), cpuBefore);
    const memoryBytes = {
      api: await memoryBytesOf(running.pids.api ?? []),
      worker: await memoryBytesOf(running.pids.worker ?? []),
    };

    const after = await counts(system, ground);
    const stored = system.books === undefined ? report.created : after.stored - before.stored;
    const allProcessed = withoutRedis || system.books === undefined ? undefined : after;
    const reason = voidReason(report, stored - (probed?.plants ?? 0), allProcessed);
    if (reason !== undefined) throw new VoidRound(reason);

    const totalSeconds = (Math.max(endMs, report.answeredMs) - report.startedMs) / 1_000;
    const totalCpuMs = Object.values(cpu).reduce((sum, ms) => sum + ms, 0);
    return {
      ...report,
      stored,
      totalSeconds,
      creates: report.created / ((report.answeredMs - report.startedMs) / 1_000),
      processed: stored / totalSeconds,
      cpu,
      cpuUsPerPlant: (totalCpuMs * 1_000) / stored,
      memoryBytes,
      ...(probed && { lagMs: probed }),
    };
  } finally {
    await running.stop();
    if (options.withoutRedis) await ground.startRedis();
  }
}

/** Why the round must not count; undefined when it may. */
export function voidReason(report: LoadReport, stored: number, counts?: Counts): string | undefined {
  const { broken, refused, repeated, created, offered = 1 } = report;
  if (broken > 0) return `${broken} answers never came`;
  if (refused !== repeated) return `${refused} refusals where ${repeated} were due`;
  if (created === 0) return 'no plant was created';
  if (stored !== created) return `${created} answers of 200, but ${stored} plants are stored`;
  if (offered < OFFERED_MIN) return `only ${(offered * 100).toFixed(1)} % of the load was offered in time`;
  if (counts !== undefined && (counts.indexed !== counts.stored || counts.audited !== counts.stored)) {
    return `${counts.stored} plants, ${counts.indexed} indexed, ${counts.audited} audited`;
  }
  return undefined;
}

/** Resolves with the time, as of `Date.now()`, at which nothing was pending any more. */
async function nothingPending({ books }: System, { database }: Ground): Promise<number> {
  if (books === undefined) return 0;
  const deadline = Date.now() + PENDING_MS_MAX;
  while (await books.isPending(database)) {
    if (Date.now() > deadline)
      throw new VoidRound(`plants are still pending after ${PENDING_MS_MAX / 1_000} s`);
    await pause(POLL_MS);
  }
  return Date.now();
}

function counts({ books }: System, { database }: Ground): Promise<Counts> {
  return books?.counts(database) ?? Promise.resolve({ stored: 0, indexed: 0, audited: 0 });
}

/** CPU of every process so far. */
export async function cpuNow({ pids }: RunningSystem, ground: Ground): Promise<CpuMs> {
  const { mongod, redis } = ground.pids();
  const all = Object.entries({ ...pids, mongod: [mongod], redis: [redis] });
  // A server that is down on purpose has none to read.
  const usage = all.map(async ([part, of]) => [part, await cpuMsOf(of).catch(() => 0)] as const);
  return Object.fromEntries(await Promise.all(usage));
}

function difference(now: CpuMs, before: CpuMs): CpuMs {
  return Object.fromEntries(
    Object.entries(now).map(([part, ms]) => [part, Math.max(0, ms - (before[part as Part] ?? 0))]),
  );
}
