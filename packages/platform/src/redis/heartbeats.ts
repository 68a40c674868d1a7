import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

const HEARTBEAT_MS = 2_000;
/** Heartbeats of ended processes are kept for this long, so that an operator can still see a crash or a restart. */
const KEPT_MS = 10 * 60_000;

/** What a process reports about itself. It reports durations, not times, since the clocks of machines may differ. */
export type Heartbeat = {
  name: string;
  version: string;
  upMs: number;
  jobsInHand: number;
  /** Batches processed since its start. */
  batches: number;
  /** Since the end of the last batch; absent before the first. */
  sinceBatchMs?: number;
};

export type SeenHeartbeat = Heartbeat & {
  /** One process: a restarted one has another id under the same name. */
  process: string;
  /** Since the report, by Redis' clock. */
  ageMs: number;
  /** The process reported its own end. */
  ended: boolean;
};

type Stored = Heartbeat & { at: number; ended?: true };

const keyOf = (prefix: string) => `${prefix}:heartbeats`;

/**
 * Reports every 2 s until disposed, and then once more that the process ends. A report is lost while Redis is away.
 * @param redis a producer's connection: it fails at once while Redis is away
 */
export function publishHeartbeats(redis: Redis, prefix: string, beat: () => Heartbeat): AsyncDisposable {
  const process = randomUUID();

  async function publish(end: { ended?: true } = {}): Promise<void> {
    try {
      const report: Stored = { ...beat(), at: await redisTime(redis), ...end };
      await redis.hset(keyOf(prefix), process, JSON.stringify(report));
    } catch {
      // The connection logs that Redis is away; the next report follows in 2 s.
    }
  }

  const timer = setInterval(publish, HEARTBEAT_MS);
  if (redis.status === 'ready') void publish();
  else redis.once('ready', () => void publish());
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await publish({ ended: true });
    },
  };
}

/** The last report of every process of the last 10 minutes. @throws when Redis does not answer. */
export async function readHeartbeats(redis: Redis, prefix: string): Promise<SeenHeartbeat[]> {
  const [now, reports] = await Promise.all([redisTime(redis), redis.hgetall(keyOf(prefix))]);
  const seen = Object.entries(reports).map(([process, report]): SeenHeartbeat => {
    const { at, ended = false, ...heartbeat } = JSON.parse(report) as Stored;
    return { ...heartbeat, process, ageMs: Math.max(0, now - at), ended };
  });
  const old = seen.filter(({ ageMs }) => ageMs > KEPT_MS).map(({ process }) => process);
  if (old.length > 0) await redis.hdel(keyOf(prefix), ...old);
  return seen.filter(({ ageMs }) => ageMs <= KEPT_MS);
}

async function redisTime(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}
