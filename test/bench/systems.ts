import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { untilResolved } from '@plant-store/local/servers/until-resolved';

/** What a system under measurement runs on; the same servers for all of them, emptied in between. */
export type Ground = { mongodbUrl: string; redisUrl: string; authSecret: string };

/** A system whose API listens at `url`. */
export type System = { url: string; processes: Record<string, number>; stop: () => Promise<void> };

export type SystemName = 'ours' | 'plain';

/** Where each system keeps what it audited, and how many plants a document there stands for. */
export const auditOf = {
  ours: { collection: 'audit_blocks', plants: { $size: '$entries' } },
  plain: { collection: 'audit_records', plants: 1 },
} as const;

const root = resolve(import.meta.dirname, '../..');
const programs: Record<SystemName, Record<string, string>> = {
  ours: { api: 'services/api/src/main.ts', worker: 'services/worker/src/main.ts' },
  plain: { api: 'test/bench/rivals/plain-api.ts', worker: 'test/bench/rivals/plain-worker.ts' },
};

/** Starts the API and one worker of a system, and waits until the API answers. */
export async function startSystem(name: SystemName, ground: Ground, port: number): Promise<System> {
  const environment = {
    ...process.env,
    MONGODB_URL: ground.mongodbUrl,
    REDIS_URL: ground.redisUrl,
    AUTH_SECRET: ground.authSecret,
    PORT: String(port),
    QUEUE_PREFIX: '{bench}',
    DRAIN_MS: '0',
    LOG_LEVEL: 'error',
  };
  const children = Object.entries(programs[name]).map(([part, program]) => ({
    part,
    child: spawn(process.execPath, [program], {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit'],
    }),
  }));
  const url = `http://127.0.0.1:${port}`;
  await untilResolved(async () => void (await fetch(url)), {
    withinMs: 15_000,
    what: `${name} answers at ${url}`,
  });
  return {
    url,
    processes: Object.fromEntries(children.map(({ part, child }) => [part, child.pid as number])),
    stop: async () => void (await Promise.all(children.map(({ child }) => end(child)))),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
