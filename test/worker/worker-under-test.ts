import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { type Collection, type Db, MongoClient } from 'mongodb';
import { afterAll, afterEach } from 'vitest';
import {
  CREATIONS_QUEUE,
  type CreationJobData,
  creationJob,
  type PendingCommit,
} from '../../packages/contracts/src/creation-job.ts';
import type { PlantDocument } from '../../packages/contracts/src/plant-document.ts';
import { startWorker } from '../../services/worker/src/compose.ts';
import { readWorkerConfig } from '../../services/worker/src/config.ts';
import { capturedLog } from '../harness/captured-log.ts';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';

type Environment = Record<string, string>;

/** One worker in this process, put together as in production. */
type WorkerInstance = AsyncDisposable & {
  internalUrl: string;
  /** Its log lines so far, at info and above. */
  log: readonly Record<string, unknown>[];
  /** The value of a metric with these labels, 0 where there is none yet. */
  metric: (name: string, labels?: string) => Promise<number>;
  close: () => Promise<void>;
};

/** @param environment as the process would read it; the relay is quick, what else is left out has the defaults. */
async function startWorkerInstance(environment: Environment): Promise<WorkerInstance> {
  const { config, secrets } = readWorkerConfig({
    RELAY_INTERVAL_MS: '100',
    RELAY_AGE_MS: '300',
    ...environment,
  });
  const { logger, lines: log } = capturedLog(config.logLevel);
  const { internalUrl, close } = await startWorker(config, secrets, logger);
  const metric = async (name: string, labels = '') => {
    const text = await (await fetch(`${internalUrl}/metrics`)).text();
    const family = name.replace(/_(?:sum|count)$/, '');
    if (!text.includes(`# TYPE ${name} `) && !text.includes(`# TYPE ${family} histogram`))
      throw new Error(`there is no metric ${name}`);
    const line = text
      .split('\n')
      .find((candidate) => candidate.startsWith(`${name}{`) && candidate.includes(labels));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  return { internalUrl, log, metric, close, [Symbol.asyncDispose]: close };
}

/** A database, a queue and the workers on them. */
export type WorkerSystem = AsyncDisposable & {
  /** What its workers are started with. */
  environment: Environment;
  database: Db;
  plants: Collection<PlantDocument>;
  /** The queue as the API sees it. Its connection waits for Redis. */
  queue: Queue<CreationJobData>;
  redis: Redis;
  /** Publishes one commit, as the API does when it stores few. */
  publish: (commit: string, plants?: number) => Promise<void>;
  /** Publishes commits that share a job. */
  publishTogether: (commits: readonly PendingCommit[]) => Promise<void>;
  /** Starts a worker, which ends with the system if not before. */
  start: (extra?: Environment) => Promise<WorkerInstance>;
  stopWorkers: () => Promise<void>;
  /** Deletes plants, index, blocks and jobs. */
  empty: () => Promise<void>;
  close: () => Promise<void>;
};

export function openSystem(mongodbUrl: string, redisUrl: string, prefix: string): WorkerSystem {
  const environment = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl, QUEUE_PREFIX: prefix };
  const mongo = new MongoClient(mongodbUrl, { useBigInt64: true });
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  redis.on('error', () => {});
  const queue = new Queue<CreationJobData>(CREATIONS_QUEUE, { connection: redis, prefix });
  queue.on('error', () => {});
  const database = mongo.db();
  const started: WorkerInstance[] = [];

  const publishTogether = async (commits: readonly PendingCommit[]) => {
    const { name, data, opts } = creationJob(commits);
    await queue.add(name, data, opts);
  };
  const stopWorkers = async () => {
    await Promise.all(started.splice(0).map((worker) => worker.close()));
  };
  const close = async () => {
    await stopWorkers();
    redis.disconnect();
    await mongo.close();
  };
  return {
    environment,
    database,
    plants: database.collection<PlantDocument>('plants'),
    queue,
    redis,
    publish: (commit, plants = 1) => publishTogether([{ commit, plants }]),
    publishTogether,
    start: async (extra = {}) => {
      const worker = await startWorkerInstance({ ...environment, ...extra });
      started.push(worker);
      return worker;
    },
    stopWorkers,
    empty: async () => {
      await Promise.all(
        ['plants', 'plant_search', 'audit_blocks'].map((name) => database.collection(name).deleteMany()),
      );
      await queue.obliterate({ force: true });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The test run's servers, emptied and without workers after each test. Call it at the top of a file. */
export function workerUnderTest(): WorkerSystem {
  const queue = testQueue();
  const system = openSystem(testDatabase().url, queue.url, queue.prefix);
  afterEach(async () => {
    await system.stopWorkers();
    await system.empty();
  });
  afterAll(system.close);
  return system;
}
