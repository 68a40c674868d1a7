import { keepAnchoring } from '@plant-store/audit/anchoring/keep-anchoring';
import { mongoAnchors } from '@plant-store/audit/mongo/mongo-anchors';
import { mongoAuditLog } from '@plant-store/audit/mongo/mongo-audit-log';
import { createAuditChains, creationChains } from '@plant-store/audit/sealing/audit-chains';
import { type SealingDeps, sealEntries } from '@plant-store/audit/sealing/seal-entries';
import { auditIndexes, plantIndexes, searchIndexes } from '@plant-store/contracts/indexes';
import { databaseOutage } from '@plant-store/platform/mongo/database-outage';
import { createMongoClient, databaseName, hasPrimary } from '@plant-store/platform/mongo/mongo';
import { isDatabaseAway } from '@plant-store/platform/mongo/mongo-failures';
import { ensureIndexes } from '@plant-store/platform/mongo/mongo-indexes';
import { poolMetrics } from '@plant-store/platform/mongo/pool-metrics';
import { startInternalListener } from '@plant-store/platform/process/internal-listener';
import type { Logger } from '@plant-store/platform/process/logger';
import { createRegistry, serverMetrics } from '@plant-store/platform/process/metrics';
import {
  createRedis,
  producerConnection,
  redisAnswers,
  redisMisconfigurations,
  workerConnection,
} from '@plant-store/platform/redis/redis';
import { startTracing } from '@plant-store/platform/tracing/start-tracing';
import { mongoSearchIndex } from '@plant-store/search/mongo/mongo-search-index';
import type { MongoClient } from 'mongodb';
import { anchorOutput } from './anchor-output.ts';
import type { WorkerConfig, WorkerSecrets } from './config.ts';
import { type WorkerEvents, workerEvents } from './events.ts';
import { startWorkerHeartbeat } from './heartbeat.ts';
import { bullmqCreationWorker } from './jobs/bullmq-creation-worker.ts';
import { type CommitBatchesDeps, createCommitBatches } from './jobs/commit-batches.ts';
import { keepWorking } from './jobs/keep-working.ts';
import { mongoPendingPlants } from './jobs/mongo-pending-plants.ts';
import { processCreationJob } from './jobs/process-creation-job.ts';
import { bullmqCreationQueue } from './outbox/bullmq-creation-queue.ts';
import { mongoPendingCommits } from './outbox/mongo-pending-commits.ts';
import { startRelay } from './outbox/relay.ts';
import { tracedJobs } from './tracing/traced-jobs.ts';

/** Nobody waits for a worker's answer, so a slow database gets more time than in the API; still bounded. */
const SOCKET_MS_MAX = 8_000;
const CONNECTIONS_MAX = 10;
/** Keeps a block far below MongoDB's limit of 16 MiB per document. */
const BLOCK_BOUNDS = { entriesMax: 2_000, bytesMax: 8 * 1024 * 1024 };

export type RunningWorker = { internalUrl: string; close: () => Promise<void> };

/** Puts one worker together and starts it. Neither MongoDB nor Redis has to be there yet. */
export async function startWorker(
  config: WorkerConfig,
  secrets: WorkerSecrets,
  logger: Logger,
): Promise<RunningWorker> {
  await using started = new AsyncDisposableStack();
  const registry = createRegistry('worker');
  const closing = new AbortController();
  const now = () => performance.now();

  const tracing = await startTracing(
    config.tracing,
    { service: 'worker', instance: config.instance },
    logger,
  );
  started.use(tracing);
  const traces = tracing && tracedJobs(tracing);
  const mongo = createMongoClient(secrets.mongodbUrl, 'plant-store-worker', {
    maxPoolSize: CONNECTIONS_MAX,
    socketTimeoutMS: SOCKET_MS_MAX,
  });
  started.defer(() => mongo.close());
  const database = databaseName(secrets.mongodbUrl);
  const outage = started.use(
    databaseOutage(mongo, logger, {
      began: 'the database does not answer: jobs wait for it',
      ended: 'the database answers again',
    }),
  );
  const events = workerEvents({ logger, registry, database: outage });

  const redis = createRedis(secrets.redisUrl, producerConnection, logger);
  started.defer(() => redis.disconnect());
  poolMetrics(registry, mongo);
  serverMetrics(registry, { mongodb: outage.primarySeen, redis: () => redisAnswers(redis) });
  redis.on('ready', async () => events.redisSettingsRead(await redisMisconfigurations(redis)));
  const { queuePrefix, concurrency } = config.jobs;
  const heartbeat = started.use(
    startWorkerHeartbeat(redis, queuePrefix, config.instance, now, events.figures),
  );
  const queue = bullmqCreationQueue(redis, queuePrefix, events.queueError);
  started.defer(() => queue.close());

  const internal = await startInternalListener(
    config.internal,
    { ready: async () => !closing.signal.aborted && (await hasPrimary(mongo)) },
    registry,
  );
  started.defer(() => internal.close());

  const batches = createCommitBatches(
    { ...processing(mongo, database, config, events, heartbeat.batchProcessed), traced: traces?.batch },
    concurrency,
  );

  const work = workWhenIndexed();
  started.defer(work.close);
  started.defer(() => closing.abort());
  logger.info({ internal: internal.url }, 'listening');
  const running = started.move();
  return { internalUrl: internal.url, close: () => running.disposeAsync() };

  /**
   * Starts work once the indexes exist. Without the unique ones a creation may be audited twice, or a chain may fork;
   * without the one on pending plants the relay cannot read.
   */
  function workWhenIndexed(): { close: () => Promise<void> } {
    const specifications = [...plantIndexes, ...searchIndexes, ...auditIndexes];
    const working = ensureIndexes(
      mongo.db(database),
      specifications,
      events.indexesMissing,
      closing.signal,
    ).then(() => {
      if (closing.signal.aborted) return [];
      events.indexesExist();
      return [takeJobs(), relay(), ...anchoring()];
    });
    return { close: async () => void (await Promise.all((await working).map((part) => part.close()))) };
  }

  function relay() {
    return startRelay({
      pending: mongoPendingCommits(mongo, database),
      queue,
      ...config.relay,
      now,
      random: Math.random,
      on: {
        looked: events.relayLooked,
        published: events.relayPublished,
        orphansRemoved: events.relayRemovedOrphans,
        retried: events.relayRetried,
        swept: events.relaySwept,
        failed: events.relayFailed,
      },
    });
  }

  /** One loop that writes anchors; none when no key is configured. */
  function anchoring() {
    if (secrets.anchorKey === undefined) {
      events.anchorKeyMissing();
      return [];
    }
    const loop = keepAnchoring({
      store: mongoAnchors(mongo, database),
      key: secrets.anchorKey,
      intervalMs: config.anchoring.intervalMs,
      emit: anchorOutput(config.anchoring.output),
      now: () => new Date(),
      monotonicMs: now,
      random: Math.random,
      on: {
        made: events.anchorMade,
        changed: events.anchorChanged,
        failed: events.anchorFailed,
        works: events.anchoringWorks,
      },
    });
    return [loop];
  }

  function takeJobs() {
    return keepWorking({
      startWorker: startJobs,
      queueStatus: queue.status,
      now,
      on: { queueSeen: events.queueSeen, stuck: events.workerStuck },
    });
  }

  function startJobs() {
    const deps = {
      batches,
      closing: closing.signal,
      on: {
        done: events.jobDone,
        failed: events.jobFailed,
        poisoned: events.plantsPoisoned,
        databaseAway: events.databaseAway,
      },
    };
    return bullmqCreationWorker({
      // Its outages are those of the connection above, which logs them.
      redis: createRedis(secrets.redisUrl, workerConnection, undefined),
      prefix: queuePrefix,
      concurrency,
      name: config.instance,
      process: async (job) => {
        heartbeat.jobTaken();
        const work = () => processCreationJob(deps, job);
        await (traces === undefined ? work() : traces.job(job, work)).finally(heartbeat.jobEnded);
      },
      on: {
        error: events.queueError,
        stalled: events.jobStalled,
        foreign: events.foreignJob,
        full: async () => {
          await queue.dropWaiting();
          events.jobsDropped();
        },
      },
    });
  }
}

/** The steps of a batch, on MongoDB. */
function processing(
  mongo: MongoClient,
  database: string,
  config: WorkerConfig,
  events: WorkerEvents,
  batchProcessed: () => void,
): CommitBatchesDeps {
  const sealing: SealingDeps = {
    log: mongoAuditLog(mongo, database),
    chains: createAuditChains(creationChains(config.auditing.chains), Math.random),
    bounds: BLOCK_BOUNDS,
    sealer: config.instance,
    now: () => new Date(),
    random: Math.random,
    on: { sealed: events.blockSealed, collided: events.blockCollided, unknown: events.blockUnknown },
  };
  return {
    pending: mongoPendingPlants(mongo, database),
    index: mongoSearchIndex(mongo, database).add,
    audit: async (entries, published) => {
      const rejected = await sealEntries(sealing, entries, published);
      events.entriesAudited(entries);
      return new Map(rejected.map(({ entry, reason }) => [entry.plant, reason]));
    },
    isDatabaseAway,
    on: {
      indexed: events.plantsIndexed,
      strayed: (poison) => events.plantsPoisoned([poison]),
      processed: (...batch) => {
        batchProcessed();
        events.batchProcessed(...batch);
      },
    },
  };
}
