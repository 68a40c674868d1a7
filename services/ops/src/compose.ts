import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import { startInternalListener } from '@plant-store/platform/internal-listener';
import { createLogger, type Logger } from '@plant-store/platform/logger';
import { createRegistry } from '@plant-store/platform/metrics';
import { createMongoClient, databaseName } from '@plant-store/platform/mongo';
import { createRedis, producerConnection } from '@plant-store/platform/redis';
import type { Running } from '@plant-store/platform/service';
import { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { createCredentials } from './access/credentials.ts';
import type { OpsConfig, OpsSecrets } from './config.ts';
import { buildOpsApp } from './http/app.ts';
import { createOpsMetrics, registerStatusMetrics } from './metrics.ts';
import { createStatusReader } from './status/status.ts';

/** How long a closing console lets requests end by themselves. */
const DRAIN_MS = 5_000;

export type Ops = { running: Running; logger: Logger; url: string; internalUrl: string };

/** Starts the console. MongoDB and Redis may be away: it then says so, and connects once they are there. */
export async function startOps({
  config,
  secrets,
}: {
  config: OpsConfig;
  secrets: OpsSecrets;
}): Promise<Ops> {
  const logger = createLogger('ops', config.instance, config.logLevel);
  await using started = new AsyncDisposableStack();

  const mongo = createMongoClient(secrets.mongodbUrl, 'plant-store-ops');
  started.defer(() => mongo.close());
  const redis = createRedis(secrets.redisUrl, producerConnection, logger);
  started.defer(() => redis.disconnect());
  const queue = new Queue(CREATIONS_QUEUE, {
    connection: redis,
    prefix: config.queuePrefix,
    /** It asks Redis once, at the first connection; were that one answer lost, the queue would fail for good. */
    skipVersionCheck: true,
  });
  queue.on('error', () => undefined);
  started.defer(() => queue.close());

  const database = mongo.db(databaseName(secrets.mongodbUrl));
  const readStatus = createStatusReader({ database, queue, redis }, logger);
  const registry = createRegistry('ops');
  const metrics = createOpsMetrics(registry);
  registerStatusMetrics(registry, readStatus);

  let ready = false;
  const internal = await startInternalListener(
    config.internal,
    { live: () => true, ready: () => ready },
    registry,
  );
  started.defer(() => internal.close());

  const credentials = await createCredentials(secrets.accounts);
  const app = await buildOpsApp({
    http: config.http,
    credentials,
    readStatus,
    queue,
    redis,
    metrics,
    logger,
  });
  started.defer(() => drain(app));
  const url = await app.listen({ host: config.http.host, port: config.http.port });

  ready = true;
  started.defer(() => {
    ready = false;
  });
  logger.info({ url, internal: internal.url }, 'listening');
  const stack = started.move();
  const running = { close: () => stack.disposeAsync() };
  return { running, logger, url, internalUrl: internal.url };
}

/** Ends idle connections at once, busy ones after their answer, and whatever is left after DRAIN_MS. */
async function drain(app: FastifyInstance): Promise<void> {
  const impatience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
  await app.close();
  clearTimeout(impatience);
}
