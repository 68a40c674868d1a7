import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_SECRET } from '../harness/api/tokens.ts';
import { opsUsers } from '../harness/ops-users.ts';
import { processesOf } from '../harness/processes/processes.ts';
import { testDatabase, testQueue } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { dataDirectory, removeDataDirectory } from './started-system.ts';

const root = resolve(import.meta.dirname, '../..');
const database = testDatabase();
const queue = testQueue();
const servers = { MONGODB_URL: database.url, REDIS_URL: queue.url, QUEUE_PREFIX: queue.prefix };
let dataDir: string;

beforeAll(async () => {
  dataDir = await dataDirectory();
});
afterAll(() => removeDataDirectory(dataDir));

/** Loaded before a program: says on descriptor 3 that SIGTERM is handled now, and which modules were loaded until then. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
  // Told before the next listener after that for SIGTERM is added.
  process.on('newListener', function told() {
    if (process.listenerCount('SIGTERM') === 0) return;
    process.off('newListener', told);
    writeSync(3, JSON.stringify(loaded));
  });
`)}`;

const users = await opsUsers({ name: 'olga', role: 'operator', password: 'correct-horse-battery' });

/** Starts the program and waits until it handles SIGTERM, which is the earliest moment at which one can be handled. */
async function started(main: string) {
  const child = spawn(process.execPath, ['--import', PROBE, join(root, main)], {
    cwd: root,
    env: {
      ...process.env,
      // Loading takes longest without it, and `npm start` brings its own.
      NODE_COMPILE_CACHE: undefined,
      DATA_DIR: dataDir,
      AUTH_SECRET: TEST_SECRET,
      OPS_USERS: users,
      // `npm start` brings its own.
      ...(main.startsWith('services/') && servers),
      GATEWAY: 'off',
      PORT: '0',
      OPS_PORT: '0',
      DRAIN_MS: '0',
    },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }));
  const [loaded] = await once(child.stdio[3] as NodeJS.ReadableStream, 'data');
  return { child, ended, loaded: JSON.parse(String(loaded)) as string[] };
}

describe.each([
  'services/api/src/main.ts',
  'services/worker/src/main.ts',
  'services/ops/src/main.ts',
  'deploy/local/start.ts',
])('%s', (main) => {
  test('handles SIGTERM before it loads what its work needs', async () => {
    const { child, ended, loaded } = await started(main);
    child.kill('SIGKILL');
    await ended;
    expect(loaded).toContain(`file://${join(root, main)}`);
    expect(
      loaded.filter((url) => /compose|config|run-local-system|mongodb|ioredis|fastify/.test(url)),
    ).toEqual([]);
  });

  test.each([0, 5, 30, 120, 400, 1_000])(
    'SIGTERM %i ms after that ends it with 0 and leaves no process',
    async (afterMs) => {
      const { child, ended } = await started(main);
      await sleep(afterMs);
      child.kill('SIGTERM');
      expect(await ended).toEqual({ code: 0, signal: null, stderr: '' });
      // A child that it has just ended may take a moment.
      await waitFor(async () => (await processesOf(dataDir)).length === 0, {
        withinMs: 5_000,
        what: 'no process is left',
      });
    },
  );
});
