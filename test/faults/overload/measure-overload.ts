import { readFile } from 'node:fs/promises';
import { MongoClient } from 'mongodb';
import { byGenerator } from '../../bench/load/run-load.ts';
import { startGateway } from '../../gateway/harness/running-gateway.ts';
import { ready } from '../../harness/api/api.ts';
import { TEST_SECRET, token } from '../../harness/api/tokens.ts';
import { startProgram } from '../../harness/processes/program.ts';
import { privateMongod, privateRedis } from '../../harness/servers/private-servers.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { type OpenReport, runOpenLoad } from './open-load.ts';

/** Seconds of each measurement, short and as in the matrix. */
const SECONDS = {
  short: { capacity: 6, unloaded: 6, over: 15 },
  whole: { capacity: 10, unloaded: 10, over: 60 },
};
/** Overload is told from a burst after a second; what has been accepted by then is still answered. */
const SETTLE_SECONDS = 4;
/** Connections of the closed loops whose better rate is the capacity. */
const CLOSED_LOOPS = [64, 256];
const UNLOADED_SHARE = 0.3;
const SAMPLE_MS = 250;
/** All that was stored is indexed and audited so long after the load at the latest. */
const PROCESSED_MS_MAX = 300_000;

type Overloaded = OpenReport & { times: number; rssMiB: number };

export type OverloadFigures = {
  /** Creates a second, the best of the closed loops. */
  capacity: number;
  unloadedP99Ms: number;
  /** Of the API, after the closed loops. */
  rssMiB: number;
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
  const api = stack.use(await startProgram('api', environment));
  await ready(api.internalUrl);
  const url = options.gateway
    ? stack.use(await startGateway({ upstreams: [new URL(api.url).host], settings: { GATEWAY_LOG: 'off' } }))
        .url
    : api.url;
  const client = new MongoClient(mongod.url, { useBigInt64: true });
  stack.defer(() => client.close());

  let firstId = 1;
  let created = 0;
  let unknown = 0;
  const target = () => {
    firstId += 100_000_000;
    return { url, token: token(), firstId };
  };
  const rates: number[] = [];
  for (const connections of CLOSED_LOOPS) {
    const closed = await byGenerator({ ...target(), connections, seconds: seconds.capacity });
    created += closed.created;
    rates.push(closed.created / closed.seconds);
    await untilProcessed(client);
  }
  const capacity = Math.max(...rates);
  const rssMiB = await rss(api.pid);
  say(`capacity ${Math.round(capacity)} creates/s`);

  const open = async (rate: number, forSeconds: number, settleSeconds: number) => {
    const report = await runOpenLoad({ ...target(), rate, seconds: forSeconds, settleSeconds });
    created += report.created;
    unknown += report.unknown;
    return report;
  };
  const { acceptedP99Ms: unloadedP99Ms } = await open(capacity * UNLOADED_SHARE, seconds.unloaded, 1);
  const overloaded: Overloaded[] = [];
  for (const factor of times) {
    const peak = watchPeak(api.pid);
    const report = await open(capacity * factor, seconds.over + SETTLE_SECONDS, SETTLE_SECONDS);
    overloaded.push({ ...report, times: factor, rssMiB: await peak() });
    say(`at ${factor} times: ${JSON.stringify(overloaded.at(-1))}`);
    await untilProcessed(client);
  }
  const stored = await client.db('plantstore').collection('plants').countDocuments();
  const indexed = await client.db('plantstore').collection('plant_search').countDocuments();
  return {
    capacity,
    unloadedP99Ms,
    rssMiB,
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

/** The largest resident memory of a process from now until it is asked, in MiB. */
function watchPeak(pid: number): () => Promise<number> {
  let peak = 0;
  const sample = async () => {
    peak = Math.max(peak, await rss(pid));
  };
  const sampling = setInterval(() => void sample(), SAMPLE_MS);
  return async () => {
    clearInterval(sampling);
    await sample();
    return peak;
  };
}

async function rss(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) / 1_024);
}
