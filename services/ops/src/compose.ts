import { CREATIONS_QUEUE } from '@plant-store/contracts/creation-job';
import { createMongoClient, databaseName, hasPrimary } from '@plant-store/platform/mongo/mongo';
import { poolMetrics } from '@plant-store/platform/mongo/pool-metrics';
import { startInternalListener } from '@plant-store/platform/process/internal-listener';
import type { Logger } from '@plant-store/platform/process/logger';
import { createRegistry } from '@plant-store/platform/process/metrics';
import { VERSION } from '@plant-store/platform/process/version';
import { createRedis, producerConnection } from '@plant-store/platform/redis/redis';
import { mongoAuditedIndex } from '@plant-store/search/mongo/mongo-audited-index';
import { mongoTermIndex } from '@plant-store/search/mongo/mongo-term-index';
import { searchPlants } from '@plant-store/search/search-plants';
import { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { createCredentials } from './access/credentials.ts';
import { operatorSessions } from './access/session-store.ts';
import { SESSION_MS_MAX } from './access/sessions.ts';
import { provePlant } from './audit/prove.ts';
import type { OpsConfig, OpsSecrets } from './config.ts';
import { createOperatorAudit } from './controls/operator-audit.ts';
import { endPauses } from './controls/pause-end.ts';
import { queueControls } from './controls/queue-controls.ts';
import { plantControls } from './failures/plant-controls.ts';
import { createFailuresReader } from './failures/read-failures.ts';
import { createHistory } from './history/history.ts';
import { buildOpsApp } from './http/app.ts';
import { createOpsMetrics, registerStatusMetrics } from './metrics.ts';
import { startMonitor } from './monitor/monitor.ts';
import { readJobPublication } from './plants/job-publication.ts';
import { plantStory } from './plants/plant-story.ts';
import { createStatusReader } from './status/status.ts';

/** At shutdown, requests in flight have this long to finish. */
const DRAIN_MS = 5_000;

export type RunningOps = { url: string; internalUrl: string; close: () => Promise<void> };

/** Starts the console. MongoDB and Redis may be away: it then says so, and connects once they are there. */
export async function startOps(config: OpsConfig, secrets: OpsSecrets, logger: Logger): Promise<RunningOps> {
  await using started = new AsyncDisposableStack();

  const mongo = createMongoClient(secrets.mongodbUrl, 'plant-store-ops');
  started.defer(() => mongo.close());
  // The status reader logs its outages.
  const redis = createRedis(secrets.redisUrl, producerConnection, undefined);
  started.defer(() => redis.disconnect());
  const queue = new Queue(CREATIONS_QUEUE, {
    connection: redis,
    prefix: config.queuePrefix,
    /** The check runs once, at the first connection; if that answer were lost, the queue would fail for good. */
    skipVersionCheck: true,
  });
  /** Ignored: these are errors of the connection, which `createRedis` logs. */
  queue.on('error', () => undefined);
  started.defer(() => queue.close());

  const name = databaseName(secrets.mongodbUrl);
  const database = mongo.db(name);
  const readStatus = createStatusReader({ database, queue, redis, queuePrefix: config.queuePrefix }, logger);
  const registry = createRegistry('ops');
  const metrics = createOpsMetrics(registry);
  poolMetrics(registry, mongo);

  const { instance, queuePrefix } = config;
  const failures = createFailuresReader(database, { queue, redis });
  const controls = {
    ...queueControls(queue, redis, queuePrefix, failures),
    ...plantControls(database, { queue, redis }, failures),
  };
  const audit = started.use(createOperatorAudit(mongo, name, instance, logger));
  const history = createHistory({ actions: audit.recent, version: VERSION, startedAt: new Date() }, logger);
  const monitor = started.use(startMonitor(readStatus, history.add, logger));
  registerStatusMetrics(registry, monitor);
  started.use(endPauses({ redis, prefix: queuePrefix, resume: controls.resume, audit, instance }, logger));

  const { accounts } = secrets;
  const sessionStore = started.use(
    operatorSessions({ redis, prefix: queuePrefix, lifetimeMs: SESSION_MS_MAX, accounts }),
  );

  const indexes = { index: mongoTermIndex(database), audited: mongoAuditedIndex(database) };
  const jobPublication = readJobPublication({ queue, redis });
  const app = await buildOpsApp({
    http: config.http,
    credentials: createCredentials(secrets.accounts),
    sessionStore,
    monitor,
    history,
    queue,
    redis,
    controls: { controls, audit, redis, instance, metrics },
    plants: {
      search: (question, after) => searchPlants(indexes, question, { ...(after && { after }) }),
      story: (id) => plantStory(database, id, jobPublication),
      prove: (id) => provePlant(database, id),
    },
    failures: { failures },
    metrics,
    logger,
  });
  let closing = false;
  const internal = await startInternalListener(
    config.internal,
    { ready: async () => app.server.listening && !closing && (await hasPrimary(mongo)) },
    registry,
  );
  started.defer(() => internal.close());

  const { host, port } = config.http;
  started.defer(() => drain(app));
  const url = await app.listen({ host, port });
  started.defer(() => {
    closing = true;
  });
  logger.info({ url, internal: internal.url }, 'listening');
  const running = started.move();
  return { url, internalUrl: internal.url, close: () => running.disposeAsync() };
}

/** Ends idle connections at once, busy ones after their answer, and whatever is left after DRAIN_MS. */
async function drain(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS);
  await app.close();
  clearTimeout(cut);
}
