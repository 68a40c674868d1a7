import { statSync } from 'node:fs';
import type { SigningKey } from '@plant-store/audit/ledger/anchor';
import { readSigningKey } from '@plant-store/audit/ledger/anchor-keys';
import { commonSettings, tracingSettings } from '@plant-store/platform/configuration/common-settings';
import { readEnvironment, wholeNumber } from '@plant-store/platform/configuration/configuration';
import type { LogLevel } from '@plant-store/platform/process/logger';
import type { TracingConfig } from '@plant-store/platform/tracing/start-tracing';
import { EnvError, makeValidator, str } from 'envalid';

export type WorkerConfig = {
  instance: string;
  logLevel: LogLevel;
  tracing: TracingConfig;
  internal: { host: string; port: number };
  jobs: { queuePrefix: string; concurrency: number };
  relay: { intervalMs: number; ageMs: number };
  auditing: { chains: number };
  anchoring: {
    intervalMs: number;
    /** `stdout` or a file. */
    output?: string;
  };
};

/** Apart from the configuration, so that printing one never prints the other. */
export type WorkerSecrets = { mongodbUrl: string; redisUrl: string; anchorKey?: SigningKey };

const signingKey = makeValidator<SigningKey>((pem) => {
  try {
    return readSigningKey(pem);
  } catch (error) {
    throw new EnvError((error as Error).message);
  }
});

const settings = {
  ...commonSettings,
  ...tracingSettings,
  WORKER_CONCURRENCY: wholeNumber(1, 1_000)({ default: 64 }),
  RELAY_INTERVAL_MS: wholeNumber(50, 30_000)({ default: 2_000 }),
  RELAY_AGE_MS: wholeNumber(100, 30_000)({ default: 5_000 }),
  AUDIT_CHAINS: wholeNumber(1, 64)({ default: 4 }),
  AUDIT_ANCHOR_KEY: signingKey({ default: undefined }),
  AUDIT_ANCHOR_INTERVAL_MS: wholeNumber(1_000, 3_600_000)({ default: 60_000 }),
  AUDIT_ANCHOR_OUTPUT: str({ default: undefined }),
};

/** Whoever reads the key can forge anchors, so other users of the machine may not. A group may: containers need that. */
function keyFileFaults({ AUDIT_ANCHOR_KEY_FILE: file }: NodeJS.ProcessEnv): string[] {
  const mode = file ? modeOf(file) : 0;
  if ((mode & 0o027) === 0) return [];
  const digits = (mode & 0o777).toString(8);
  return [
    `AUDIT_ANCHOR_KEY_FILE: every user may read the key or a group may change it (mode ${digits}): chmod 600`,
  ];
}

/** 0 for a file that cannot be read, which is a fault of its own. */
function modeOf(file: string): number {
  try {
    return statSync(file).mode;
  } catch {
    return 0;
  }
}

/** @throws ConfigurationError naming every fault of every variable. */
export function readWorkerConfig(environment: NodeJS.ProcessEnv): {
  config: WorkerConfig;
  secrets: WorkerSecrets;
} {
  const env = readEnvironment(environment, settings, () => keyFileFaults(environment));
  return {
    config: {
      instance: env.INSTANCE,
      logLevel: env.LOG_LEVEL,
      tracing: { endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: env.OTEL_TRACES_SAMPLER_ARG },
      internal: { host: env.INTERNAL_HOST, port: env.INTERNAL_PORT },
      jobs: { queuePrefix: env.QUEUE_PREFIX, concurrency: env.WORKER_CONCURRENCY },
      relay: { intervalMs: env.RELAY_INTERVAL_MS, ageMs: env.RELAY_AGE_MS },
      auditing: { chains: env.AUDIT_CHAINS },
      anchoring: {
        intervalMs: env.AUDIT_ANCHOR_INTERVAL_MS,
        ...(env.AUDIT_ANCHOR_OUTPUT && { output: env.AUDIT_ANCHOR_OUTPUT }),
      },
    },
    secrets: {
      mongodbUrl: env.MONGODB_URL,
      redisUrl: env.REDIS_URL,
      ...(env.AUDIT_ANCHOR_KEY && { anchorKey: env.AUDIT_ANCHOR_KEY }),
    },
  };
}
