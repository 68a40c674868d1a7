import { readEnvironment, wholeNumber } from '@plant-store/platform/configuration/configuration';
import { str } from 'envalid';
import { SERVER_CHOICES } from './servers/binaries/server-binary.ts';

export type LocalConfig = {
  dataDir: string;
  /** The address for clients; port 0 takes a free port. */
  http: { host: string; port: number };
  opsPort: number;
  apiReplicas: number;
  workerReplicas: number;
  gateway: 'auto' | 'off' | 'required';
  tokens: {
    /** The variable that names a source which cannot make tokens here. */
    foreignSource?: 'AUTH_PUBLIC_KEY' | 'AUTH_JWKS_URL';
    issuer?: string;
    audience?: string;
    scope?: string;
  };
};

/** For an absent setting, the local system starts the server or generates the secret or password. */
export type LocalSecrets = { mongodbUrl?: string; redisUrl?: string; authSecret?: string; opsUsers?: string };

const optional = () => str({ default: undefined });

const settings = {
  DATA_DIR: str({ default: '.local' }),
  HOST: str({ default: '127.0.0.1' }),
  PORT: wholeNumber(0, 65_535)({ default: 3000 }),
  OPS_PORT: wholeNumber(0, 65_535)({ default: 3001 }),
  API_REPLICAS: wholeNumber(1, 64)({ default: 1 }),
  WORKER_REPLICAS: wholeNumber(0, 64)({ default: 1 }),
  GATEWAY: str({ choices: ['auto', 'off', 'required'] as const, default: 'auto' }),
  SERVERS: str({ choices: SERVER_CHOICES, default: 'auto' }),
  MONGODB_URL: optional(),
  REDIS_URL: optional(),
  AUTH_SECRET: optional(),
  AUTH_PUBLIC_KEY: optional(),
  AUTH_JWKS_URL: optional(),
  AUTH_ISSUER: optional(),
  AUTH_AUDIENCE: optional(),
  AUTH_SCOPE: optional(),
  OPS_USERS: optional(),
};

/**
 * The settings of `npm start` itself. Settings of the services are only passed on; each service validates its own.
 * @throws ConfigurationError naming every fault.
 */
export function readLocalConfig(environment: NodeJS.ProcessEnv): {
  config: LocalConfig;
  secrets: LocalSecrets;
} {
  const env = readEnvironment(environment, settings, ({ PORT, OPS_PORT }) =>
    PORT !== 0 && PORT === OPS_PORT ? [`PORT and OPS_PORT are both ${PORT}: set one of them to another`] : [],
  );
  const foreignSource = (['AUTH_PUBLIC_KEY', 'AUTH_JWKS_URL'] as const).find(
    (name) => env[name] !== undefined,
  );
  return {
    config: {
      dataDir: env.DATA_DIR,
      http: { host: env.HOST, port: env.PORT },
      opsPort: env.OPS_PORT,
      apiReplicas: env.API_REPLICAS,
      workerReplicas: env.WORKER_REPLICAS,
      gateway: env.GATEWAY,
      tokens: present({
        foreignSource,
        issuer: env.AUTH_ISSUER,
        audience: env.AUTH_AUDIENCE,
        scope: env.AUTH_SCOPE,
      }),
    },
    secrets: present({
      mongodbUrl: env.MONGODB_URL,
      redisUrl: env.REDIS_URL,
      authSecret: env.AUTH_SECRET,
      opsUsers: env.OPS_USERS,
    }),
  };
}

/** Without the members that are undefined. */
function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
