import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { generateAnchorKey, publicKeyOf } from '@plant-store/audit/ledger/anchor-keys';
import type { LocalConfig, LocalSecrets } from '../config.ts';
import { files, randomText, readOrCreate, replaceFile } from '../data/data-directory.ts';
import { type OpsUser, opsUsers } from '../data/ops-users.ts';
import { usablePort } from '../data/ports.ts';
import type { Report } from '../servers/binaries/server-binary.ts';
import { freePort } from '../servers/free-port.ts';
import type { Part } from '../supervisor/supervised-process.ts';
import { databaseAndQueue } from './database-and-queue.ts';
import { apiAlone, apiBehindGateway, gatewayWanted } from './gateway-and-api.ts';
import { given, service } from './services.ts';

const SECRET_BYTES = 48;

/** A whole local system, ready to be run. */
export type LocalSystem = {
  url: string;
  ops: { url: string; users: OpsUser[] };
  mongodbUrl: string;
  redisUrl: string;
  /** Absent where tokens are verified by a key that cannot make them. */
  authSecret?: string;
  /** In the order in which they depend on each other. */
  stages: Part[][];
};

/**
 * Decides what runs, where and with which settings: the one place where all parts of `npm start` meet.
 * @param tell is given a name and what was chosen for it.
 * @throws StartError when something it needs is not available.
 */
export async function planLocalSystem(
  { http, opsPort: wantedOpsPort, apiReplicas, workerReplicas, gateway, tokens }: LocalConfig,
  secrets: LocalSecrets,
  dataDir: string,
  tell: Report,
): Promise<LocalSystem> {
  const address = { host: http.host, port: await usablePort(http.host, http.port, 'PORT') };
  const opsPort = await usablePort('127.0.0.1', wantedOpsPort, 'OPS_PORT');
  const withGateway = await gatewayWanted(gateway, (choice) => tell('gateway', choice));
  const { mongodbUrl, redisUrl, parts: servers } = await databaseAndQueue(secrets, dataDir, tell);

  const addresses = { MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl };
  const authSecret =
    tokens.foreignSource === undefined ? (secrets.authSecret ?? generatedSecret(dataDir)) : undefined;
  const auth = {
    ...given('AUTH_'),
    ...(secrets.authSecret === undefined && authSecret && { AUTH_SECRET: authSecret }),
  };
  const apiEnv = { ...addresses, ...auth };
  const { api, gateway: gatewayParts } = withGateway
    ? await apiBehindGateway(address, apiReplicas, dataDir, apiEnv)
    : { api: await apiAlone(address, apiReplicas, apiEnv), gateway: [] };

  const workerEnv = { ...addresses, ...anchorSettings(dataDir) };
  const workers: Part[] = [];
  for (let index = 1; index <= workerReplicas; index++) {
    workers.push(service(`worker-${index}`, 'services/worker/src/main.ts', await freePort(), workerEnv));
  }
  const { setting, users } = await opsUsers(secrets.opsUsers, dataDir);
  const opsEnv = { ...addresses, OPS_HOST: '127.0.0.1', OPS_PORT: `${opsPort}`, OPS_USERS: setting };
  const ops = service('ops', 'services/ops/src/main.ts', await freePort(), opsEnv);

  return {
    url: urlOf(address),
    ops: { url: `http://127.0.0.1:${opsPort}`, users },
    mongodbUrl,
    redisUrl,
    ...(authSecret !== undefined && { authSecret }),
    stages: [servers, [...workers, ops], api, gatewayParts],
  };
}

/**
 * The key that signs audit anchors is generated once. The anchors are kept in DATA_DIR, outside the database, together
 * with its public key.
 */
function anchorSettings(dataDir: string): NodeJS.ProcessEnv {
  const own = given('AUDIT_ANCHOR_');
  if (own['AUDIT_ANCHOR_KEY'] || own['AUDIT_ANCHOR_KEY_FILE']) return own;
  const privateKey = readOrCreate(join(dataDir, files.anchorKey), () =>
    generateAnchorKey().privateKey.trim(),
  );
  replaceFile(join(dataDir, files.anchorPublicKey), publicKeyOf(privateKey));
  return {
    AUDIT_ANCHOR_OUTPUT: join(dataDir, files.anchors),
    ...own,
    AUDIT_ANCHOR_KEY_FILE: join(dataDir, files.anchorKey),
  };
}

/** Generated once per DATA_DIR, so that tokens stay valid after a restart. */
function generatedSecret(dataDir: string): string {
  return readOrCreate(join(dataDir, files.authSecret), () => randomText(SECRET_BYTES));
}

/** Where a client on this machine reaches a listener; "all addresses" includes loopback. */
function urlOf({ host, port }: { host: string; port: number }): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
}
