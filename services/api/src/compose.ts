import { setTimeout as pause } from 'node:timers/promises';
import { createBatcher } from '@plant-store/platform/concurrency/batcher';
import { createMongoClient, databaseName, hasPrimary } from '@plant-store/platform/mongo/mongo';
import { startInternalListener } from '@plant-store/platform/process/internal-listener';
import type { Logger } from '@plant-store/platform/process/logger';
import { createRegistry } from '@plant-store/platform/process/metrics';
import { createRedis, producerConnection } from '@plant-store/platform/redis/redis';
import type { FastifyListenOptions } from 'fastify';
import { type MongoClient, ObjectId } from 'mongodb';
import type { ApiConfig, ApiSecrets } from './config.ts';
import { createPlant } from './domain/create-plant.ts';
import { groupCommit, groupRead } from './domain/group-commit.ts';
import { recentIds } from './domain/recent-ids.ts';
import { type ApiEvents, apiEvents } from './events.ts';
import { buildApp } from './http/app.ts';
import { createDrain } from './http/drain.ts';
import { creationPublisher } from './queue/creation-publisher.ts';
import { mongoPlants } from './storage/mongo-plants.ts';
import { jwksKeys } from './tokens/jwks.ts';

/** Ids that a replica remembers, at least; about 12 MB at twice that. */
const RECENT_IDS = 100_000;
/** Connections to the database: commits in flight, reads that resolve outcomes, and room to replace a broken one. */
const CONNECTIONS_MAX = 16;

/** Connections that the system takes before we do: all clients of a burst at once. It grants net.core.somaxconn at most. */
const BACKLOG = 4_096;

/** How long a replica waits for its database before it listens all the same. */
const FIRST_CONNECTION_MS_MAX = 3_000;
const FIRST_CONNECTION_POLL_MS = 20;

export type RunningApi = { url: string; internalUrl: string; close: () => Promise<void> };

/**
 * Puts one API replica together and starts it. Neither MongoDB nor Redis has to be there yet.
 * @param stopping ends the start before it listens.
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

  const events: ApiEvents = apiEvents(logger, registry, () => commits.waiting());
  const mongo = createMongoClient(secrets.mongodbUrl, 'plant-store-api', { maxPoolSize: CONNECTIONS_MAX });
  started.defer(() => mongo.close());
  const database = databaseName(secrets.mongodbUrl);
  const redis = createRedis(secrets.redisUrl, producerConnection, logger);
  started.defer(() => redis.disconnect());

  const publisher = creationPublisher(redis, config.queuePrefix, events.publishing);
  started.defer(() => publisher.close());
  const store = mongoPlants({
    client: mongo,
    database,
    instance: config.instance,
    onInserted: events.inserted,
  });
  const newCommit = () => ({ id: new ObjectId().toHexString(), created: new Date() });
  const commits = createBatcher(
    groupCommit({ store, newCommit, publish: publisher.publish, now }, events.defect),
  );
  const reads = createBatcher(groupRead({ store, now }, events.defect));
  started.defer(() => commits.idle());

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
    events,
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

  await firstConnection(mongo, stopping);
  stopping?.throwIfAborted();
  const { host, port, reusePort } = config.http;
  const url = await app.listen({ host, port, reusePort, backlog: BACKLOG } as FastifyListenOptions);
  started.defer(() => drain.run(app.server));
  logger.info({ url, internal: internal.url }, 'listening');
  const running = started.move();
  return { url, internalUrl: internal.url, close: () => running.disposeAsync() };
}

/**
 * A gateway sends to a replica as soon as it listens: one that restarts among others would refuse what they could store.
 * Where the database is down for all, it listens after a while and says so.
 */
async function firstConnection(mongo: MongoClient, stopping?: AbortSignal): Promise<void> {
  const deadline = performance.now() + FIRST_CONNECTION_MS_MAX;
  const over = () => stopping?.aborted === true || performance.now() >= deadline;
  while (!over() && !(await hasPrimary(mongo))) await pause(FIRST_CONNECTION_POLL_MS);
}
