import { commonSettings, tracingSettings } from '@plant-store/platform/configuration/common-settings';
import { networks, readEnvironment, wholeNumber } from '@plant-store/platform/configuration/configuration';
import type { LogLevel } from '@plant-store/platform/process/logger';
import type { TracingConfig } from '@plant-store/platform/tracing/start-tracing';
import { bool, str } from 'envalid';
import { type Algorithm, publicKeyAlgorithms, verificationFaults } from './tokens/key-strength.ts';

/** Where the keys that verify access tokens come from. There is exactly one source; it also fixes the algorithms. */
type TokenKeys =
  | { source: 'secret'; algorithms: readonly ['HS256'] }
  | { source: 'public-key'; algorithms: readonly Algorithm[]; pem: string }
  | { source: 'jwks'; algorithms: readonly Algorithm[]; url: string; cacheMs: number };

export type ApiConfig = {
  instance: string;
  logLevel: LogLevel;
  tracing: TracingConfig;
  http: { host: string; port: number; reusePort: boolean; trustedProxies: string[]; drainMs: number };
  internal: { host: string; port: number };
  queuePrefix: string;
  tokens: {
    keys: TokenKeys;
    issuer?: string;
    audience?: string;
    scope?: string;
    clockToleranceMs: number;
  };
};

/** Kept apart from the configuration, so that printing the configuration never prints a secret. */
export type ApiSecrets = { mongodbUrl: string; redisUrl: string; authSecret?: string };

const settings = {
  ...commonSettings,
  ...tracingSettings,
  HOST: str({ default: '127.0.0.1' }),
  PORT: wholeNumber(0, 65_535)({ default: 3000 }),
  REUSE_PORT: bool({ default: false }),
  TRUSTED_PROXIES: networks({ default: [] }),
  DRAIN_MS: wholeNumber(0, 5_000)({ default: 3_000 }),
  AUTH_SECRET: str({ default: undefined }),
  AUTH_PUBLIC_KEY: str({ default: undefined }),
  AUTH_JWKS_URL: str({ default: undefined }),
  AUTH_JWKS_CACHE_S: wholeNumber(1, 3_600)({ default: 300 }),
  AUTH_ISSUER: str({ default: undefined }),
  AUTH_AUDIENCE: str({ default: undefined }),
  AUTH_SCOPE: str({ default: undefined }),
  AUTH_CLOCK_TOLERANCE_S: wholeNumber(0, 30)({ default: 5 }),
};

/** @throws ConfigurationError naming every fault of every variable. */
export function readApiConfig(environment: NodeJS.ProcessEnv): { config: ApiConfig; secrets: ApiSecrets } {
  const env = readEnvironment(environment, settings, verificationFaults);
  return {
    config: {
      instance: env.INSTANCE,
      logLevel: env.LOG_LEVEL,
      tracing: { endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT, ratio: env.OTEL_TRACES_SAMPLER_ARG },
      http: {
        host: env.HOST,
        port: env.PORT,
        reusePort: env.REUSE_PORT,
        trustedProxies: env.TRUSTED_PROXIES,
        drainMs: env.DRAIN_MS,
      },
      internal: { host: env.INTERNAL_HOST, port: env.INTERNAL_PORT },
      queuePrefix: env.QUEUE_PREFIX,
      tokens: {
        keys: tokenKeys(env),
        ...(env.AUTH_ISSUER !== undefined && { issuer: env.AUTH_ISSUER }),
        ...(env.AUTH_AUDIENCE !== undefined && { audience: env.AUTH_AUDIENCE }),
        ...(env.AUTH_SCOPE !== undefined && { scope: env.AUTH_SCOPE }),
        clockToleranceMs: env.AUTH_CLOCK_TOLERANCE_S * 1_000,
      },
    },
    secrets: {
      mongodbUrl: env.MONGODB_URL,
      redisUrl: env.REDIS_URL,
      ...(env.AUTH_SECRET !== undefined && { authSecret: env.AUTH_SECRET }),
    },
  };
}

function tokenKeys(env: {
  AUTH_PUBLIC_KEY?: string | undefined;
  AUTH_JWKS_URL?: string | undefined;
  AUTH_JWKS_CACHE_S: number;
}): TokenKeys {
  if (env.AUTH_PUBLIC_KEY !== undefined) {
    const { pem, algorithms } = publicKeyAlgorithms(env.AUTH_PUBLIC_KEY);
    return { source: 'public-key', pem, algorithms };
  }
  if (env.AUTH_JWKS_URL !== undefined) {
    return {
      source: 'jwks',
      url: env.AUTH_JWKS_URL,
      cacheMs: env.AUTH_JWKS_CACHE_S * 1_000,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
    };
  }
  return { source: 'secret', algorithms: ['HS256'] };
}
