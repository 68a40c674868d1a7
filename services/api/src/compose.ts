import { setTimeout as pause } from 'node:timers/promises';
import type { ApiReport } from '@plant-store/contracts/process-report';
import { createBatcher } from '@plant-store/platform/concurrency/batcher';
import { watchOverload } from '@plant-store/platform/concurrency/overload';
import { databaseOutage } from '@plant-store/platform/mongo/database-outage';
import { createMongoClient, databaseName, hasPrimary } from '@plant-store/platform/mongo/mongo';
import { poolMetrics } from '@plant-store/platform/mongo/pool-metrics';
import { startInternalListener } from '@plant-store/platform/process/internal-listener';
import type { Logger } from '@plant-store/platform/process/logger';
import { createRegistry, serverMetrics } from '@plant-store/platform/process/metrics';
import { VERSION } from '@plant-store/platform/process/version';
import { publishHeartbeats } from '@plant-store/platform/redis/heartbeats';
import { createRedis, producerConnection, redisAnswers } from '@plant-store/platform/redis/redis';
import { startTracing } from '@plant-store/platform/tracing/start-tracing';
import type { FastifyListenOptions } from 'fastify';
import { type MongoClient, ObjectId } from 'mongodb';
import type { ApiConfig, ApiSecrets } from './config.ts';
import { createPlant } from './domain/create-plant.ts';
import { groupCommit, groupRead, WAITING_PLANTS_MAX } from './domain/group-commit.ts';
import { recentIds } from './domain/recent-ids.ts';
import { type ApiEvents, apiEvents } from './events.ts';
import { buildApp } from './http/app.ts';
import { createDrain } from './http/drain.ts';
import { creationPublisher } from './queue/creation-publisher.ts';
import { mongoPlants } from './storage/mongo-plants.ts';
import { jwksKeys } from './tokens/jwks.ts';
import { tracedCommits } from './tracing/traced-commits.ts';

/** A replica remembers between this many ids and twice as many, which take about 12 MB. */
const RECENT_IDS = 100_000;
/** Connections to the database: commits in flight, reads that resolve outcomes, and room to replace a broken one. */
const CONNECTIONS_MAX = 16;

/** Length of the accept queue, for a burst of new clients. The kernel caps it at net.core.somaxconn. */
const BACKLOG = 4_096;

/** How long a replica waits for its database. After that it listens even without one. */
const FIRST_CONNECTION_MS_MAX = 3_000;
const FIRST_CONNECTION_POLL_MS = 20;

export type RunningApi = { url: string; internalUrl: string; close: () => Promise<void> };

/**
 * Composes one API replica and starts it. It also starts while MongoDB or Redis is down.
 * @param stopping when aborted, the start is abandoned before the replica listens
 */
export async function startApi(
  config: ApiConfig,
  secrets: ApiSecrets,
  logger: Logger,
  stopping?: AbortSignal,
): Promise<RunningApi> {
  await using started = new AsyncDisposableStack();
  const registry = createRegistry('api');
  const now = () => performance.now();
  const drain = createDrain(config.http.drainMs);

  const { instance } = config;
  const tracing = await startTracing(config.tracing, { service: 'api', instance }, logger);
  started.use(tracing);
  const mongo = createMongoClient(secrets.mongodbUrl, 'plant-store-api', { maxPoolSize: CONNECTIONS_MAX });
  started.defer(() => mongo.close());
  const database = databaseName(secrets.mongodbUrl);
  const outage = started.use(
    databaseOutage(mongo, logger, {
      began: 'the database does not answer: creates are answered with 503',
      ended: 'the database answers again',
    }),
  );
  const redis = createRedis(secrets.redisUrl, producerConnection, logger);
  started.defer(() => redis.disconnect());

  const creates = { waiting: () => commits.waiting(), waitingMax: WAITING_PLANTS_MAX };
  const events: ApiEvents = apiEvents({ logger, registry, database: outage, creates });
  poolMetrics(registry, mongo);
  serverMetrics(registry, { mongodb: outage.primarySeen, redis: () => redisAnswers(redis) });
  redis.on('ready', events.redisReady);
  started.use(reportToConsole());

  const publisher = creationPublisher(redis, config.queuePrefix, events.publishing, tracing);
  started.defer(() => publisher.close());
  const store = mongoPlants({
    client: mongo,
    database,
    instance,
    onInserted: events.inserted,
    onReadFailed: events.readFailed,
  });
  const newCommit = () => ({ id: new ObjectId().toHexString(), created: new Date() });
  const commitDeps = { store, newCommit, publish: publisher.publish, now };
  const commits = createBatcher({
    ...groupCommit(commitDeps, events.defect),
    ...(tracing !== undefined && { process: tracedCommits(tracing, commitDeps) }),
  });
  const reads = createBatcher(groupRead({ store, now }, events.defect));
  started.defer(() => commits.idle());
  const overload = watchOverload({ waitedMs: commits.waitedMs, now, onChange: events.overloaded });
  started.defer(() => overload.close());

  const { keys } = config.tokens;
  const jwks =
    keys.source === 'jwks'
      ? jwksKeys({ url: keys.url, cacheMs: keys.cacheMs, now, onFetch: events.keySetFetched })
      : undefined;
  started.defer(() => jwks?.close());

  const app = await buildApp({
    http: config.http,
    accessTokens: {
      tokens: config.tokens,
      ...(secrets.authSecret !== undefined && { secret: secrets.authSecret }),
      ...(jwks !== undefined && { jwks }),
    },
    createPlant: {
      createPlant: createPlant({
        joinCommit: commits.submit,
        readTogether: reads.submit,
        recentIds: recentIds(RECENT_IDS),
      }),
      now,
    },
    // One full commit may wait for those that are being written: more would only wait longer.
    admission: {
      isFull: () => overload.isOverloaded() && commits.hasFullBatch(),
      refused: (request) => {
        overload.refused();
        events.refusedForLoad(request);
      },
    },
    events,
    tracing,
    closing: drain.closing,
  });
  const internal = await startInternalListener(
    config.internal,
    {
      ready: async () => app.server.listening && !drain.begun() && (await hasPrimary(mongo)),
    },
    registry,
  );
  started.defer(() => internal.close());
  started.defer(() => app.close());

  if (!(await firstConnection(mongo, stopping))) outage.fails('there is no primary yet');
  stopping?.throwIfAborted();
  const { host, port, reusePort } = config.http;
  const url = await app.listen({ host, port, reusePort, backlog: BACKLOG } as FastifyListenOptions);
  started.defer(() => drain.run(app.server));
  logger.info({ url, internal: internal.url }, 'listening');
  const running = started.move();
  return { url, internalUrl: internal.url, close: () => running.disposeAsync() };

  function reportToConsole(): AsyncDisposable {
    const startedAt = now();
    return publishHeartbeats(
      redis,
      config.queuePrefix,
      async (): Promise<ApiReport> => ({
        service: 'api',
        name: config.instance,
        version: VERSION,
        upMs: now() - startedAt,
        ...(await events.report()),
      }),
    );
  }
}

/**
 * Waits until the primary answers, for 3 s at most. The gateway sends requests as soon as a replica listens: without
 * this wait, a restarted replica would refuse creates that the other replicas could store. When the database is down
 * for all of them, the replica listens after the wait and answers 503.
 * @returns false when there was no primary in that time
 */
async function firstConnection(mongo: MongoClient, stopping?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + FIRST_CONNECTION_MS_MAX;
  const over = () => stopping?.aborted === true || performance.now() >= deadline;
  let found = false;
  while (!found && !over()) {
    found = await hasPrimary(mongo);
    if (!found) await pause(FIRST_CONNECTION_POLL_MS);
  }
  return found || stopping?.aborted === true;
}
