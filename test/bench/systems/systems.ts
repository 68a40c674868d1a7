import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '@plant-store/local/servers/free-port';
import { untilResolved } from '@plant-store/local/servers/until-resolved';
import { gatewayCommand } from '../../../deploy/gateway/gateway-command.ts';
import { type Books, ourBooks, rivalBooks } from './books.ts';
import { type Ground, QUEUE_PREFIX } from './ground.ts';
import { launch, type OwnProcess } from './own-processes.ts';

const READY_MS_MAX = 30_000;
const bench = resolve(import.meta.dirname, '..');
const service = (name: string) => resolve(bench, `../../services/${name}/src/main.ts`);

export type Part = 'api' | 'worker' | 'gateway';

/** How a system is run; `api` and `worker` are arguments of node. */
export type System = {
  api: readonly string[];
  worker?: readonly string[];
  books?: Books;
  apiReplicas?: number;
  workerReplicas?: number;
  gateway?: boolean;
};

const rival = (name: string, ...nodeOptions: string[]): System => ({
  api: [...nodeOptions, `rivals/${name}/api.ts`],
  worker: [...nodeOptions, `rivals/${name}/worker.ts`],
  books: rivalBooks,
});

const ours: System = {
  api: [service('api')],
  worker: [service('worker')],
  books: ourBooks,
};

export const systems = {
  ours,
  'ours behind the gateway': { ...ours, gateway: true },
  'two replicas behind the gateway': { ...ours, gateway: true, apiReplicas: 2 },
  plain: rival('plain'),
  // Decorators are no JavaScript yet: tsx translates them while it loads them.
  nest: rival('nest', '--import', 'tsx'),
  express: rival('express'),
  /** Our own API with a store that answers at once. */
  floor: { api: ['systems/floor-api.ts'] },
} as const satisfies Record<string, System>;

export type SystemName = keyof typeof systems;

export type RunningSystem = {
  url: string;
  pids: Partial<Record<Part, number[]>>;
  startWorkers: () => Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts a system's processes and waits until each serves. `workers: false` leaves them to `startWorkers`.
 * @param settings for all of them
 */
export async function startSystem(
  system: System,
  ground: Ground,
  {
    folder,
    workers = true,
    settings = {},
  }: { folder: string; workers?: boolean; settings?: NodeJS.ProcessEnv },
): Promise<RunningSystem> {
  const { apiReplicas = 1, workerReplicas = 1, gateway = false } = system;
  const started: OwnProcess[] = [];
  const pids: RunningSystem['pids'] = {};
  const environment = {
    ...process.env,
    ...ground.environment,
    NODE_ENV: 'production',
    QUEUE_PREFIX,
    LOG_LEVEL: 'error',
    ...settings,
  };

  async function start(part: Part, program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    const child = launch(program, args, { cwd: bench, env: { ...environment, ...env } });
    child.stdout.resume();
    started.push(child);
    pids[part] = [...(pids[part] ?? []), child.pid];
    return child;
  }
  const node = async (part: 'api' | 'worker', args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const internalPort = await freePort();
    const child = await start(part, process.execPath, args, { INTERNAL_PORT: `${internalPort}`, ...env });
    // Rivals have no readiness: their API serves when it answers, their workers are given time by the warm-up.
    const ready = `http://127.0.0.1:${internalPort}/readyz`;
    if (system.books === ourBooks) await answers(ready, child, 200);
    return internalPort;
  };
  const startWorkers = async () => {
    const { worker } = system;
    if (worker === undefined) return;
    await Promise.all(Array.from({ length: workerReplicas }, () => node('worker', worker)));
  };
  const stop = async () => {
    for (const child of started) child.kill('SIGKILL');
    await Promise.allSettled(started.map(({ gone }) => gone));
  };

  try {
    const port = await freePort();
    const upstreams = gateway
      ? await Promise.all(Array.from({ length: apiReplicas }, freePort))
      : Array.from({ length: apiReplicas }, () => port);
    if (workers) await startWorkers();
    const internalPorts = await Promise.all(
      upstreams.map((apiPort) =>
        node('api', system.api, {
          PORT: `${apiPort}`,
          REUSE_PORT: `${apiReplicas > 1 && !gateway}`,
          ...(gateway && { TRUSTED_PROXIES: '127.0.0.1' }),
        }),
      ),
    );
    if (gateway) {
      const { command, args, env } = gatewayCommand({
        listen: { host: '127.0.0.1', port },
        internal: { host: '127.0.0.1', port: await freePort() },
        upstreams: upstreams.map((apiPort) => `127.0.0.1:${apiPort}`),
        readinessUpstreams: internalPorts.map((internalPort) => `127.0.0.1:${internalPort}`),
        directory: mkdtempSync(join(folder, 'gateway-')),
      });
      await start('gateway', command, args, env);
    }
    const url = `http://127.0.0.1:${port}`;
    await answers(url, started.at(-1) as OwnProcess);
    return { url, pids, startWorkers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function answers(url: string, child: OwnProcess, status?: number): Promise<void> {
  let ended = false;
  void child.gone.finally(() => {
    ended = true;
  });
  await untilResolved(
    async () => {
      const answer = await fetch(url);
      if (status !== undefined && answer.status !== status) throw new Error(`status ${answer.status}`);
      // An answer that nobody reads keeps its connection.
      await answer.body?.cancel();
    },
    { withinMs: READY_MS_MAX, what: `${url} answers`, unless: () => ended },
  );
}
