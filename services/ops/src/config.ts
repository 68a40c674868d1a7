import { commonSettings } from '@plant-store/platform/configuration/common-settings';
import { networks, readEnvironment, wholeNumber } from '@plant-store/platform/configuration/configuration';
import type { LogLevel } from '@plant-store/platform/process/logger';
import { str } from 'envalid';
import { type Account, parseAccounts } from './access/accounts.ts';

export type OpsConfig = {
  instance: string;
  logLevel: LogLevel;
  http: {
    host: string;
    port: number;
    /** The console's origin as operators' browsers show it; when absent, the Host of each request is used. */
    origin?: string;
    /** Whether browsers reach the console over TLS, which a proxy terminates. */
    tls: boolean;
    trustedProxies: string[];
  };
  internal: { host: string; port: number };
  queuePrefix: string;
};

/** Apart from the configuration, so that printing one never prints the other. */
export type OpsSecrets = { mongodbUrl: string; redisUrl: string; accounts: Account[] };

const settings = {
  ...commonSettings,
  OPS_HOST: str({ default: '127.0.0.1' }),
  OPS_PORT: wholeNumber(0, 65_535)({ default: 3001 }),
  OPS_USERS: str(),
  OPS_ORIGIN: str({ default: undefined }),
  TRUSTED_PROXIES: networks({ default: [] }),
};

/** @throws ConfigurationError naming every fault of every variable, and no password. */
export function readOpsConfig(environment: NodeJS.ProcessEnv): { config: OpsConfig; secrets: OpsSecrets } {
  const env = readEnvironment(environment, settings, ({ OPS_USERS, OPS_ORIGIN, TRUSTED_PROXIES }) => [
    ...parseAccounts(OPS_USERS).faults,
    ...originFaults(OPS_ORIGIN, TRUSTED_PROXIES),
  ]);
  return {
    config: {
      instance: env.INSTANCE,
      logLevel: env.LOG_LEVEL,
      http: {
        host: env.OPS_HOST,
        port: env.OPS_PORT,
        ...(env.OPS_ORIGIN !== undefined && { origin: new URL(env.OPS_ORIGIN).origin }),
        tls: env.OPS_ORIGIN?.startsWith('https:') === true,
        trustedProxies: env.TRUSTED_PROXIES,
      },
      internal: { host: env.INTERNAL_HOST, port: env.INTERNAL_PORT },
      queuePrefix: env.QUEUE_PREFIX,
    },
    secrets: {
      mongodbUrl: env.MONGODB_URL,
      redisUrl: env.REDIS_URL,
      accounts: parseAccounts(env.OPS_USERS).accounts,
    },
  };
}

function originFaults(origin: string | undefined, trustedProxies: readonly string[]): string[] {
  if (origin === undefined) return [];
  if (!/^https?:\/\/[^/?#@]+\/?$/.test(origin) || !URL.canParse(origin)) {
    return ['OPS_ORIGIN must be scheme, host and port alone, such as https://ops.example.org'];
  }
  if (origin.startsWith('https:') && trustedProxies.length === 0) {
    return ['OPS_ORIGIN is https: name the proxy that terminates TLS in TRUSTED_PROXIES'];
  }
  return [];
}
