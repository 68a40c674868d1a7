/**
 * Measures creates and sustained throughput beside the rival "plain": the two in turn, on the same database and queue
 * servers, emptied before each. Only the ratios inside one run count.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findOnPath } from '@plant-store/local/servers/binaries/search-path';
import { serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { freePort } from '@plant-store/local/servers/free-port';
import { startMongod } from '@plant-store/local/servers/mongod';
import { startRedis } from '@plant-store/local/servers/redis-server';
import { untilResolved } from '@plant-store/local/servers/until-resolved';
import { createSigner } from 'fast-jwt';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { closedLoop, type LoadReport } from './load.ts';
import { auditOf, type Ground, type SystemName, startSystem } from './systems.ts';

const CONNECTIONS = [64, 256];
const ROUNDS = { full: 5, quick: 2 };
const SECONDS = { full: 12, quick: 5 };
const WARM_UP_SECONDS = 2;
const DRAIN_MS_MAX = 300_000;

type Result = LoadReport & { creates: number; sustained: number };

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'string' } },
});
const mode = values.quick ? 'quick' : 'full';
if (findOnPath('wrk') === undefined) {
  process.stderr.write('bench: wrk is not on PATH: install it (Debian: "apt-get install wrk")\n');
  process.exit(1);
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const report = (server: string, choice: string) => say(`${server}: ${choice}`);
const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
const mongod = await startMongod({
  binary: await serverBinary('mongod', report),
  dataDir: join(folder, 'mongodb'),
  port: await freePort(),
});
const redisServer = await startRedis({
  binary: await serverBinary('redis-server', report),
  dataDir: join(folder, 'redis'),
  port: await freePort(),
});
const ground: Ground = {
  mongodbUrl: mongod.url.replace('/?', '/bench?'),
  redisUrl: redisServer.url,
  authSecret: 'the-secret-of-a-benchmark-0123456789',
};
const token = createSigner({ key: ground.authSecret, algorithm: 'HS256', expiresIn: 3_600_000 })({
  sub: 'bench',
});
const mongo = new MongoClient(ground.mongodbUrl);
const redis = new Redis(ground.redisUrl);

const results: Record<string, Record<SystemName, Result[]>> = {};
try {
  for (const connections of CONNECTIONS) {
    const pair: Record<SystemName, Result[]> = { ours: [], plain: [] };
    results[connections] = pair;
    for (let round = 1; round <= ROUNDS[mode]; round++) {
      for (const name of ['ours', 'plain'] as const) {
        const result = await measure(name, connections);
        pair[name].push(result);
        say(
          `${connections} connections, round ${round}, ${name.padEnd(5)}: ${Math.round(result.creates)} creates/s, ` +
            `p50 ${result.p50Ms.toFixed(1)} ms, p99 ${result.p99Ms.toFixed(1)} ms, ` +
            `${Math.round(result.sustained)}/s with index and audit`,
        );
      }
    }
  }
} finally {
  redis.disconnect();
  await mongo.close();
  await Promise.all([mongod.stop(), redisServer.stop()]);
  rmSync(folder, { recursive: true, force: true });
}

say(
  '\n| connections | creates/s, ours : plain | with index and audit, ours : plain | p99, ours : plain |\n|---|---|---|---|',
);
for (const [connections, { ours, plain }] of Object.entries(results)) {
  const ratio = (of: (result: Result) => number) => {
    const ratios = ours.map((result, round) => of(result) / of(plain[round] as Result)).sort((a, b) => a - b);
    const middle = ratios.slice(Math.floor((ratios.length - 1) / 2), Math.floor(ratios.length / 2) + 1);
    const median = middle.reduce((sum, value) => sum + value, 0) / middle.length;
    const shown = [median, ratios[0], ratios.at(-1)].map((value) => value?.toFixed(2));
    return `${shown[0]} (${shown[1]} to ${shown[2]})`;
  };
  say(
    `| ${connections} | ${ratio((r) => r.creates)} | ${ratio((r) => r.sustained)} | ${ratio((r) => r.p99Ms)} |`,
  );
}
if (values.json !== undefined) {
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
  };
  writeFileSync(values.json, `${JSON.stringify({ machine, mode, results }, null, 2)}\n`);
}

/** One round of one system from empty: load, then drain until every stored plant is audited. */
async function measure(name: SystemName, connections: number): Promise<Result> {
  await mongo.db().dropDatabase();
  await redis.flushall();
  const system = await startSystem(name, ground, await freePort());
  try {
    const load = { url: system.url, token, connections };
    await closedLoop({ ...load, seconds: WARM_UP_SECONDS, firstId: 1 });
    await drained(name);
    const before = await mongo.db().collection('plants').countDocuments();

    const started = performance.now();
    const report = await closedLoop({ ...load, seconds: SECONDS[mode], firstId: 1_000_000_000 });
    await drained(name);
    const seconds = (performance.now() - started) / 1_000;

    const stored = (await mongo.db().collection('plants').countDocuments()) - before;
    const cut = stored - report.requests;
    // wrk hangs up when its time is over: what was in flight then is stored, and was not counted as answered.
    if (report.failed > 0 || cut < 0 || cut > connections) {
      throw new Error(
        `void: ${report.failed} failed, ${report.requests} answered with 200, ${stored} stored`,
      );
    }
    return { ...report, creates: report.requests / report.seconds, sustained: stored / seconds };
  } finally {
    await system.stop();
  }
}

/** Waits until every stored plant is audited, each exactly once. */
async function drained(name: SystemName): Promise<void> {
  const { collection, plants } = auditOf[name];
  const count = (of: string) => mongo.db().collection(of).estimatedDocumentCount();
  const everyPlantAudited = async () => {
    const [stored, indexed] = [await count('plants'), await count('plant_search')];
    if (indexed !== stored) throw new Error(`${indexed} of ${stored} plants are indexed`);
    const [sum] = await mongo
      .db()
      .collection(collection)
      .aggregate<{ plants: number }>([{ $group: { _id: null, plants: { $sum: plants } } }])
      .toArray();
    if ((sum?.plants ?? 0) !== stored) throw new Error(`${sum?.plants ?? 0} of ${stored} plants are audited`);
  };
  await untilResolved(everyPlantAudited, { withinMs: DRAIN_MS_MAX, what: 'every stored plant is audited' });
}
