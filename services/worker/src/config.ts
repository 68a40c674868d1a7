import { commonSettings } from '@plant-store/platform/common-settings';
import { readEnvironment, wholeNumber } from '@plant-store/platform/configuration';
import type { LogLevel } from '@plant-store/platform/logger';

export type WorkerConfig = {
  instance: string;
  logLevel: LogLevel;
  internal: { host: string; port: number };
  jobs: { queuePrefix: string; concurrency: number };
  relay: { intervalMs: number; ageMs: number };
  auditing: { chains: number };
};

/** Apart from the configuration, so that printing one never prints the other. */
export type WorkerSecrets = { mongodbUrl: string; redisUrl: string };

const settings = {
  ...commonSettings,
  WORKER_CONCURRENCY: wholeNumber(1, 1_000)({ default: 64 }),
  RELAY_INTERVAL_MS: wholeNumber(50, 30_000)({ default: 2_000 }),
  RELAY_AGE_MS: wholeNumber(100, 30_000)({ default: 5_000 }),
  AUDIT_CHAINS: wholeNumber(1, 64)({ default: 4 }),
};

/** @throws ConfigurationError naming every fault of every variable. */
export function readWorkerConfig(environment: NodeJS.ProcessEnv): {
  config: WorkerConfig;
  secrets: WorkerSecrets;
} {
  const env = readEnvironment(environment, settings);
  return {
    config: {
      instance: env.INSTANCE,
      logLevel: env.LOG_LEVEL,
      internal: { host: env.INTERNAL_HOST, port: env.INTERNAL_PORT },
      jobs: { queuePrefix: env.QUEUE_PREFIX, concurrency: env.WORKER_CONCURRENCY },
      relay: { intervalMs: env.RELAY_INTERVAL_MS, ageMs: env.RELAY_AGE_MS },
      auditing: { chains: env.AUDIT_CHAINS },
    },
    secrets: { mongodbUrl: env.MONGODB_URL, redisUrl: env.REDIS_URL },
  };
}
