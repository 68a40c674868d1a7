import { existsSync, readFileSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { byGenerator } from '../../bench/load/run-load.ts';
import { startGateway } from '../../gateway/harness/running-gateway.ts';
import { ready } from '../../harness/api/api.ts';
import { TEST_SECRET, token } from '../../harness/api/tokens.ts';
import { startProgram } from '../../harness/processes/program.ts';
import { privateMongod, privateRedis } from '../../harness/servers/private-servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { cpuQuota } from '../faults/cpu-quota.ts';
import { type OpenReport, runOpenLoad } from './open-load.ts';

/** Seconds of each measurement, short and as in the matrix. */
const SECONDS = {
  short: { capacity: 15, unloaded: 6, over: 15 },
  whole: { capacity: 60, unloaded: 10, over: 60 },
};
/**
 * Overload is told from a burst after a second. What has been accepted by then is answered first, and the creates that
 * were due meanwhile are sent as fast as two cores can, for another 3 to 5 s. Then the load is what it is said to be.
 */
const SETTLE_SECONDS = 8;
/** Connections of the closed loops whose best rate is the capacity: more of them make larger commits. */
const CLOSED_LOOPS = [64, 256, 2_000];
/**
 * What mongod gets of one core while something is measured, so that the database is what limits the store: to refuse a
 * create costs the API and the generator a third of what all of the product spends on one, so on a machine that is busy
 * as a whole, twice the capacity could not even be refused.
 */
const MONGOD_CORES = 0.15;
/** V8's own choice in a container of 512 MiB; without a limit it lets its heap grow for as long as the machine has memory. */
const API_HEAP = '--max-old-space-size=256';
const UNLOADED_SHARE = 0.3;
const SAMPLE_MS = 250;
/** All that was stored is indexed and audited so long after the load at the latest. */
const PROCESSED_MS_MAX = 300_000;

type Overloaded = OpenReport & { times: number; rssMiB: number };

export type OverloadFigures = {
  /** Creates a second, the best of the closed loops. */
  capacity: number;
  unloadedP99Ms: number;
  overloaded: Overloaded[];
  /** Plants that are stored though they were neither answered 200 nor unknown, or that are missing (below 0). */
  stored: number;
  processed: boolean;
};

/** A system of its own, one replica and one worker, driven at so many times its capacity. */
export async function measureOverload(options: {
  gateway: boolean;
  isWhole: boolean;
  times: readonly number[];
  say: (line: string) => void;
}): Promise<OverloadFigures> {
  const { say, times } = options;
  const seconds = options.isWhole ? SECONDS.whole : SECONDS.short;
  await using stack = new AsyncDisposableStack();
  const mongod = stack.use(await privateMongod());
  const redis = stack.use(await privateRedis());
  const environment = {
    MONGODB_URL: mongod.url,
    REDIS_URL: redis.url,
    AUTH_SECRET: TEST_SECRET,
    ...(!options.gateway && { DRAIN_MS: '0' }),
  };
  stack.use(await startProgram('worker', environment));
  const api = stack.use(await startProgram('api', { ...environment, NODE_OPTIONS: API_HEAP }));
  const endOfApi = api.ended;
  await ready(api.internalUrl);
  const url = options.gateway
    ? stack.use(await startGateway({ upstreams: [new URL(api.url).host], settings: { GATEWAY_LOG: 'off' } }))
        .url
    : api.url;
  const client = new MongoClient(mongod.url, { useBigInt64: true });
  stack.defer(() => client.close());

  const withLittleCpu = async <T>(measure: () => Promise<T>): Promise<T> => {
    using _quota = cpuQuota(mongod.pid(), MONGOD_CORES);
    return await measure();
  };

  let firstId = 1;
  let created = 0;
  let unknown = 0;
  const target = () => {
    firstId += 100_000_000;
    return { url, token: token(), firstId };
  };
  const rates: number[] = [];
  for (const connections of CLOSED_LOOPS) {
    const closed = await withLittleCpu(() =>
      byGenerator({ ...target(), connections, seconds: seconds.capacity }),
    );
    if (closed.broken > 0) throw new Error(`${closed.broken} connections broke in a closed loop`);
    created += closed.created;
    // Some of them may be 5002.
    unknown += closed.refused;
    rates.push(closed.created / closed.seconds);
    await untilProcessed(client);
  }
  const capacity = Math.max(...rates);
  say(`capacity ${Math.round(capacity)} creates/s`);

  const open = async (rate: number, forSeconds: number, settleSeconds: number) => {
    const report = await withLittleCpu(() =>
      runOpenLoad({ ...target(), rate, seconds: forSeconds, settleSeconds }),
    );
    created += report.created;
    unknown += report.unknown;
    return report;
  };
  const { acceptedP99Ms: unloadedP99Ms } = await open(capacity * UNLOADED_SHARE, seconds.unloaded, 1);
  await untilProcessed(client);
  const overloaded: Overloaded[] = [];
  for (const factor of times) {
    using memory = watchMemory(api.pid);
    const report = await Promise.race([
      open(capacity * factor, seconds.over + SETTLE_SECONDS, SETTLE_SECONDS),
      endOfApi.then(({ code, stderr }) => {
        throw new Error(`the API ended with ${code} at ${factor} times the capacity: ${stderr.slice(-500)}`);
      }),
    ]);
    overloaded.push({ ...report, times: factor, rssMiB: memory.peakMiB() });
    say(`at ${factor} times: ${JSON.stringify(overloaded.at(-1))}`);
    await untilProcessed(client);
  }
  const stored = await client.db('plantstore').collection('plants').countDocuments();
  const indexed = await client.db('plantstore').collection('plant_search').countDocuments();
  return {
    capacity,
    unloadedP99Ms,
    overloaded,
    stored: Math.min(0, stored - created) + Math.max(0, stored - created - unknown),
    processed: indexed === stored,
  };
}

async function untilProcessed(client: MongoClient): Promise<void> {
  const plants = client.db('plantstore').collection('plants');
  await waitFor(async () => (await plants.countDocuments({ pending: true }, { limit: 1 })) === 0, {
    withinMs: PROCESSED_MS_MAX,
    what: 'everything is indexed and audited',
  });
}

/** The largest resident memory of a process from now on, until it is disposed of. */
function watchMemory(pid: number): Disposable & { peakMiB: () => number } {
  let peakMiB = 0;
  const sampling = setInterval(() => {
    peakMiB = Math.max(peakMiB, rss(pid));
  }, SAMPLE_MS);
  return { peakMiB: () => peakMiB, [Symbol.dispose]: () => clearInterval(sampling) };
}

/** In MiB; 0 when the process has ended. */
function rss(pid: number): number {
  const status = existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
  return Math.round(Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024);
}
