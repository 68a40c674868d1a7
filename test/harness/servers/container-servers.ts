import type { Report } from '@plant-store/local/servers/binaries/server-binary';
import { untilResolved } from '@plant-store/local/servers/until-resolved';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { GenericContainer, Wait } from 'testcontainers';
import type { StartedServers } from './global-setup.ts';

const MONGO_IMAGE = 'mongo:8.0';
const REDIS_IMAGE = 'redis:7.4';

/**
 * The same two servers from the images that are shipped. Clients have to connect directly: the replica set knows its
 * only member by the address inside its container.
 */
export async function startContainers(report: Report): Promise<StartedServers> {
  const mongo = await new GenericContainer(MONGO_IMAGE)
    .withCommand([
      ...['--replSet', 'plantstore', '--setParameter', 'enableTestCommands=1'],
      ...['--setParameter', 'minSnapshotHistoryWindowInSeconds=0'],
    ])
    .withExposedPorts(27017)
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  try {
    const redis = await new GenericContainer(REDIS_IMAGE)
      .withCommand(['--appendonly', 'yes', '--maxmemory-policy', 'noeviction'])
      .withExposedPorts(6379)
      .withWaitStrategy(Wait.forListeningPorts())
      .start();
    const stop = async () => {
      await redis.stop();
      await mongo.stop();
    };
    try {
      const mongodb = `mongodb://${mongo.getHost()}:${mongo.getMappedPort(27017)}/?directConnection=true`;
      await initiate(mongodb);
      const redisUrl = `redis://${redis.getHost()}:${redis.getMappedPort(6379)}`;
      report('mongod', `${await mongodVersion(mongodb)}, in a container of ${MONGO_IMAGE}`);
      report('redis-server', `${await redisVersion(redisUrl)}, in a container of ${REDIS_IMAGE}`);
      return { mongodb, redis: redisUrl, stop };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    await mongo.stop();
    throw error;
  }
}

async function initiate(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 2_000 });
  try {
    const admin = client.db('admin');
    const members = [{ _id: 0, host: '127.0.0.1:27017' }];
    await untilResolved(() => admin.command({ ping: 1 }), { withinMs: 60_000, what: 'mongod answers' });
    await admin.command({ replSetInitiate: { _id: 'plantstore', members } });
    await untilResolved(
      async () => {
        const { isWritablePrimary } = await admin.command({ hello: 1 });
        if (!isWritablePrimary) throw new Error('not primary yet');
      },
      { withinMs: 60_000, what: 'mongod is primary' },
    );
  } finally {
    await client.close();
  }
}

async function mongodVersion(url: string): Promise<string> {
  const client = new MongoClient(url);
  try {
    return (await client.db('admin').command({ buildInfo: 1 }))['version'];
  } finally {
    await client.close();
  }
}

async function redisVersion(url: string): Promise<string | undefined> {
  const redis = new Redis(url);
  try {
    return /redis_version:(\S+)/.exec(await redis.info('server'))?.[1];
  } finally {
    redis.disconnect();
  }
}
