import { join } from 'node:path';
import { gatewayCommand, nginxVersion } from '../../gateway/gateway-command.ts';
import type { LocalConfig } from '../config.ts';
import { freePort } from '../servers/free-port.ts';
import { StartError } from '../start-error.ts';
import type { Part } from '../supervisor/supervised-process.ts';
import { given, inherited, ready, service } from './services.ts';

const NGINX_MIN = { major: 1, minor: 22 };

/** Whether nginx runs in front of the API, and why. */
export async function gatewayWanted(
  gateway: LocalConfig['gateway'],
  tell: (choice: string) => void,
): Promise<boolean> {
  if (gateway === 'off') {
    tell('off (GATEWAY=off): clients reach the API directly');
    return false;
  }
  const version = await nginxVersion();
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const usable = major > NGINX_MIN.major || (major === NGINX_MIN.major && minor >= NGINX_MIN.minor);
  if (usable) {
    tell(`nginx ${version}`);
    return true;
  }
  const lack = version === undefined ? 'nginx is not installed' : `nginx ${version} is older than 1.22`;
  if (gateway === 'required')
    throw new StartError(`GATEWAY=required, but ${lack}: install nginx, or set GATEWAY=auto`);
  tell(`none, ${lack}: clients reach the API directly`);
  return false;
}

type Address = { host: string; port: number };

/** The API replicas on free ports behind nginx, which listens at `address`. */
export async function apiBehindGateway(
  address: Address,
  replicas: number,
  dataDir: string,
  env: NodeJS.ProcessEnv,
): Promise<{ gateway: Part[]; api: Part[] }> {
  const ports: number[] = [];
  for (let index = 0; index < replicas; index++) ports.push(await freePort());
  const api = await apiReplicas(replicas, (index) => ({
    TRUSTED_PROXIES: '127.0.0.1',
    ...env,
    HOST: '127.0.0.1',
    PORT: `${ports[index]}`,
  }));

  const internal = { host: '127.0.0.1', port: await freePort() };
  const directory = join(dataDir, 'gateway');
  const {
    command,
    args,
    env: settings,
    stopSignal,
  } = gatewayCommand({
    listen: address,
    internal,
    upstreams: ports.map((port) => `127.0.0.1:${port}`),
    readinessUpstreams: api.map(({ url }) => new URL(url).host),
    directory,
  });
  const url = `http://${internal.host}:${internal.port}`;
  const gateway: Part = {
    name: 'gateway',
    program: command,
    args,
    env: { ...inherited(), ...settings, ...given('GATEWAY_') },
    url,
    ownLog: { path: join(directory, 'access.log'), reopenSignal: 'SIGUSR1' },
    stopSignal,
    ready: () => ready(url),
  };
  return { gateway: [gateway], api };
}

/** The API replicas without a gateway: all of them listen at `address`. */
export function apiAlone({ host, port }: Address, replicas: number, env: NodeJS.ProcessEnv): Promise<Part[]> {
  return apiReplicas(replicas, () => ({
    ...env,
    HOST: host,
    PORT: `${port}`,
    REUSE_PORT: `${replicas > 1}`,
  }));
}

async function apiReplicas(
  replicas: number,
  env: (index: number) => NodeJS.ProcessEnv,
): Promise<(Part & { url: string })[]> {
  const parts: (Part & { url: string })[] = [];
  for (let index = 0; index < replicas; index++) {
    parts.push(service(`api-${index + 1}`, 'services/api/src/main.ts', await freePort(), env(index)));
  }
  return parts;
}
