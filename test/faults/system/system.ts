import { generateAnchorKey } from '@plant-store/audit/ledger/anchor-keys';
import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import type { Db } from 'mongodb';
import { installedNginx, type RunningGateway, startGateway } from '../../gateway/harness/running-gateway.ts';
import { TEST_SECRET } from '../../harness/api/tokens.ts';
import { type PrivateServer, privateRedis } from '../../harness/servers/private-servers.ts';
import type { Target } from '../load/client.ts';
import { type Database, startDatabase } from './database.ts';
import { createService, type Service } from './service.ts';
import { quickWorker, type Topology } from './topology.ts';

/** As in production, where nobody sets it (DESIGN: `plantstore`). */
const DATABASE = 'plantstore';
const QUEUE_PREFIX = '{plantstore}';

/** The whole product as processes, with servers of its own. */
export type System = {
  database: Database;
  /** The product's database, read by majority past all proxies. */
  db: Db;
  redisServer: PrivateServer;
  /** Past all proxies. Its commands wait while Redis is down. */
  redis: Redis;
  queue: Queue;
  replicas: readonly Service[];
  workers: readonly Service[];
  gateway: RunningGateway | undefined;
  /** Public key of the anchors, in PEM. */
  anchorKey: string;
  targets: () => Target[];
  /** SIGTERM to all; what speaks against a clean exit (L5). */
  stop: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** This machine lacks what a row needs; the message says what. */
export class CannotRunHereError extends Error {
  override readonly name = 'CannotRunHereError';
}

/**
 * Starts servers and processes, and waits until they are ready.
 * @param tree whose sources run, when not this one's
 * @throws CannotRunHereError
 */
export async function startSystem(topology: Topology, tree?: string): Promise<System> {
  await using stack = new AsyncDisposableStack();
  if (topology.gateway && installedNginx === undefined)
    throw new CannotRunHereError('nginx is not installed');
  const database = await startDatabase(topology.database);
  stack.defer(() => database.close());
  const redisServer = await privateRedis(topology.redisArgs);
  stack.defer(() => redisServer.close());

  const redis = new Redis(redisServer.url, { maxRetriesPerRequest: null, retryStrategy: () => 100 });
  redis.on('error', () => {});
  stack.defer(() => redis.disconnect());
  const queue = new Queue(CREATIONS_QUEUE, { connection: redis, prefix: QUEUE_PREFIX });
  queue.on('error', () => {});
  await queue.waitUntilReady();

  const anchor = generateAnchorKey();
  const common = { LOG_LEVEL: 'info', QUEUE_PREFIX };
  const service = (kind: 'api' | 'worker', index: number) =>
    createService({
      name: `${kind}-${index + 1}`,
      kind,
      database,
      redisPort: redisServer.port,
      ...(tree !== undefined && { tree }),
      environment:
        kind === 'api'
          ? {
              ...common,
              AUTH_SECRET: TEST_SECRET,
              // Only a gateway has to notice that a replica drains.
              ...(!topology.gateway && { DRAIN_MS: '0' }),
              ...topology.api,
            }
          : { ...common, ...quickWorker, AUDIT_ANCHOR_KEY: anchor.privateKey, ...topology.worker },
    });
  const create = async (kind: 'api' | 'worker', count: number) => {
    const services: Service[] = [];
    for (let index = 0; index < count; index++) {
      const created = await service(kind, index);
      stack.defer(created.close);
      services.push(created);
    }
    return services;
  };
  const workers = await create('worker', topology.workers);
  const replicas = await create('api', topology.replicas);
  const services = [...workers, ...replicas];

  if (topology.redisDownAtStart) await redisServer.kill();
  await Promise.all(services.map((each) => each.start()));
  await Promise.all(services.map((each) => each.ready()));
  const gateway = topology.gateway
    ? await startGateway({
        upstreams: replicas.map(({ port }) => `127.0.0.1:${port}`),
        readinessUpstreams: replicas.map(({ internalPort }) => `127.0.0.1:${internalPort}`),
      })
    : undefined;
  if (gateway !== undefined) stack.use(gateway);

  const started = stack.move();
  return {
    database,
    db: database.client.db(DATABASE),
    redisServer,
    redis,
    queue,
    replicas,
    workers,
    gateway,
    anchorKey: anchor.publicKey,
    targets: () =>
      gateway === undefined
        ? replicas.map(({ name, url }) => ({ name, url }))
        : [{ name: 'gateway', url: gateway.url }],
    stop: async () => {
      const exits = await Promise.all(services.map((each) => each.stop()));
      return exits.filter((exit) => exit !== undefined);
    },
    close: () => started.disposeAsync(),
  };
}
