import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Report, serverBinary } from '@plant-store/local/servers/binaries/server-binary';
import { freePort } from '@plant-store/local/servers/free-port';
import { startMongod } from '@plant-store/local/servers/mongod';
import { startRedis } from '@plant-store/local/servers/redis-server';
import type { StartedServers } from './global-setup.ts';

/** Keeps a test's mongod small, and opens its fail points. */
export const testMongodArgs = [
  '--wiredTigerCacheSizeGB',
  '0.25',
  '--setParameter',
  'enableTestCommands=1',
  '--setParameter',
  'diagnosticDataCollectionEnabled=false',
];

/** mongod and redis-server as processes, in a temporary directory, found or downloaded as `npm start` does. */
export async function startLocalServers(report: Report): Promise<StartedServers> {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-test-'));
  const steps: (() => Promise<void>)[] = [() => rm(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of steps.splice(0).reverse()) await step();
  };
  try {
    const mongod = await startMongod({
      binary: await serverBinary('mongod', report),
      dataDir: join(directory, 'mongod'),
      port: await freePort(),
      args: testMongodArgs,
    });
    steps.push(mongod.kill);
    const redis = await startRedis({
      binary: await serverBinary('redis-server', report),
      dataDir: join(directory, 'redis'),
      port: await freePort(),
    });
    steps.push(redis.kill);
    return { mongodb: mongod.url, redis: redis.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
