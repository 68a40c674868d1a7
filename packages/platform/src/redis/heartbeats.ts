import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { within } from '../concurrency/within.ts';

const HEARTBEAT_MS = 2_000;
/** Heartbeats of ended processes are kept for this long, so that an operator can still see a crash or a restart. */
const KEPT_MS = 10 * 60_000;
/** A shutdown waits this long for its last report: a Redis that hangs must not delay it. */
const LAST_REPORT_MS_MAX = 500;

/** A report as read: what the process said, and what is known about the saying. */
export type Seen<Report> = Report & {
  /** One process: a restarted one has another id under the same name. */
  process: string;
  /** Since the report, by Redis' clock. */
  ageMs: number;
  /** The process reported its own end. */
  ended: boolean;
};

type Stored<Report> = Report & { at: number; ended?: true };

const keyOf = (prefix: string) => `${prefix}:heartbeats`;

/**
 * Reports every 2 s until disposed, and then once more that the process ends. A report is lost while Redis is away.
 * @param redis a producer's connection: it fails at once while Redis is away
 */
export function publishHeartbeats<Report>(
  redis: Redis,
  prefix: string,
  beat: () => Promise<Report>,
): AsyncDisposable {
  const process = randomUUID();

  async function publish(end: { ended?: true } = {}): Promise<void> {
    try {
      const report: Stored<Report> = { ...(await beat()), at: await redisTime(redis), ...end };
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
      await within(LAST_REPORT_MS_MAX, publish({ ended: true }), undefined);
    },
  };
}

/** What `readHeartbeats` found: reports, and the processes whose report it could not read. */
export type Heartbeats<Report> = { reports: Seen<Report>[]; unreadable: string[] };

/**
 * The last report of every process of the last 10 minutes.
 * @param read undefined for what is no report: any client of Redis can write one
 * @throws when Redis does not answer
 */
export async function readHeartbeats<Report>(
  redis: Redis,
  prefix: string,
  read: (report: unknown) => Report | undefined,
): Promise<Heartbeats<Report>> {
  const [now, stored] = await Promise.all([redisTime(redis), redis.hgetall(keyOf(prefix))]);
  const found: Heartbeats<Report> = { reports: [], unreadable: [] };
  const old: string[] = [];
  for (const [process, text] of Object.entries(stored)) {
    const value = parsed(text);
    const { at, ended } = (value ?? {}) as Partial<Stored<object>>;
    const report = Number.isFinite(at) ? read(value) : undefined;
    const ageMs = Math.max(0, now - Number(at));
    if (ageMs > KEPT_MS) old.push(process);
    else if (report === undefined) found.unreadable.push(process);
    else found.reports.push({ ...report, process, ageMs, ended: ended === true });
  }
  if (old.length > 0) await redis.hdel(keyOf(prefix), ...old);
  return found;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Redis' clock, in ms since 1970. */
export async function redisTime(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}
