import { setTimeout as pause } from 'node:timers/promises';
import { plantIndexes } from '@plant-store/contracts/indexes';
import { startInternalListener } from '@plant-store/platform/internal-listener';
import type { Logger } from '@plant-store/platform/logger';
import { createRegistry } from '@plant-store/platform/metrics';
import { createMongoClient, databaseName, hasPrimary } from '@plant-store/platform/mongo';
import { ensureIndexes } from '@plant-store/platform/mongo-indexes';
import { createRedis, producerConnection } from '@plant-store/platform/redis';
import { Closers } from '@plant-store/platform/service';
import type { FastifyListenOptions } from 'fastify';
import { type MongoClient, ObjectId } from 'mongodb';
import type { ApiConfig, ApiSecrets } from './config.ts';
import { createPlant, type PlantStore } from './domain/create-plant.ts';
import { type ApiEvents, apiEvents } from './events.ts';
import { buildApp } from './http/app.ts';
import { createDrain } from './http/drain.ts';
import { creationAnnouncer } from './queue/creation-announcer.ts';
import { groupCommit, groupRead } from './storage/group-commit.ts';
import { mongoPlants } from './storage/mongo-plants.ts';
import { recentIds } from './storage/recent-ids.ts';
import { jwksKeys } from './tokens/jwks.ts';

/** Recently stored ids kept by a replica, at least; about 12 MB at twice that. */
const RECENT_IDS = 100_000;
/** Connections to the database: commits in flight, settling reads, and room to replace a broken one. */
const CONNECTIONS_MAX = 16;

/** How long a replica waits for its database before it listens all the same. */
const FIRST_CONNECTION_MS_MAX = 3_000;
const FIRST_CONNECTION_POLL_MS = 20;

export type RunningApi = { url: string; internalUrl: string; close: () => Promise<void> };

/** Puts one API replica together and starts it. Neither MongoDB nor Redis has to be there yet. */
export async function startApi(config: ApiConfig, secrets: ApiSecrets, logger: Logger): Promise<RunningApi> {
  const closers = new Closers();
  const registry = createRegistry('api');
  const now = () => performance.now();
  const drain = createDrain(config.http.drainMs);

  const events: ApiEvents = apiEvents(logger, registry, () => commits.waiting());
  const mongo = createMongoClient(secrets.mongodbUrl, 'plant-store-api', { maxPoolSize: CONNECTIONS_MAX });
  closers.add(() => mongo.close());
  const database = databaseName(secrets.mongodbUrl);
  const redis = createRedis(secrets.redisUrl, producerConnection, logger);
  closers.add(() => redis.disconnect());

  const announcer = creationAnnouncer(redis, config.queuePrefix, {
    announced: events.announced,
    missed: events.announcementMissed,
  });
  closers.add(() => announcer.close());
  const store = observed(mongoPlants(mongo, database, config.instance), events);
  const commits = groupCommit(
    { store, newCommit: () => new ObjectId().toHexString(), announce: announcer.announce, now },
    events.defect,
  );
  const reads = groupRead(store, now);
  closers.add(() => commits.idle());

  const building = new AbortController();
  closers.add(() => building.abort());
  void ensureIndexes(mongo.db(database), plantIndexes, events.indexesMissing, building.signal);

  const { keys } = config.tokens;
  const jwks =
    keys.source === 'jwks'
      ? jwksKeys({ url: keys.url, cacheMs: keys.cacheMs, now, onFetch: events.keySetFetched })
      : undefined;
  closers.add(() => jwks?.close());

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
    leaving: drain.leaving,
  });
  const internal = await startInternalListener(
    config.internal,
    {
      live: () => true,
      ready: async () => app.server.listening && !drain.begun() && (await hasPrimary(mongo)),
    },
    registry,
  );
  closers.add(() => internal.close());
  closers.add(() => app.close());

  try {
    await databaseOrPatience(mongo);
    const { host, port, reusePort } = config.http;
    const url = await app.listen({ host, port, reusePort } as FastifyListenOptions);
    logger.info({ url, internal: internal.url }, 'listening');
    closers.add(() => drain.run(app.server));
    return { url, internalUrl: internal.url, close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

/**
 * A gateway sends to a replica as soon as it listens: one that restarts among others would refuse what they could store.
 * Where the database is down for all, listening and saying so is better than silence.
 */
async function databaseOrPatience(mongo: MongoClient): Promise<void> {
  const deadline = performance.now() + FIRST_CONNECTION_MS_MAX;
  while (performance.now() < deadline && !(await hasPrimary(mongo))) await pause(FIRST_CONNECTION_POLL_MS);
}

/** The store, with every insert recorded. */
function observed(store: PlantStore, events: ApiEvents): PlantStore {
  return {
    read: store.read,
    async insert(commit, creations, budgetMs) {
      const started = performance.now();
      const report = await store.insert(commit, creations, budgetMs);
      events.inserted(creations.length, performance.now() - started, report);
      return report;
    },
  };
}
