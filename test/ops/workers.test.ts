import { VERSION } from '@plant-store/platform/process/version';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StatusWords, WorkerWords } from '../../services/ops/src/status/status-words.ts';
import { type Program, startProgram } from '../harness/processes/program.ts';
import { takesJobs } from '../harness/processes/takes-jobs.ts';
import { testEnvironment } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { type RunningConsole, startConsole, viewer } from './running-console.ts';
import { signedIn, type Visitor } from './visitor.ts';

const servers = testEnvironment();
/** The console promises to find within 15 s what is wrong. */
const FOUND_MS_MAX = 15_000;

const startWorker = (name: string) => startProgram('worker', { ...servers, INSTANCE: name });

const redis = new Redis(servers.REDIS_URL);
let ops: RunningConsole;
let vera: Visitor;
const workers: Program[] = [];
beforeAll(async () => {
  ops = await startConsole(servers);
  vera = await signedIn(ops, viewer);
});
afterAll(async () => {
  for (const worker of workers) {
    worker.signal('SIGKILL');
    await worker.ended;
  }
  await ops.close();
  redis.disconnect();
});

test('each worker is listed by name and version, from its start until it ends', async () => {
  const first = await startWorker('rose');
  workers.push(first, await startWorker('thorn'));
  const seen = await listed((names) => names.length === 2);
  expect(seen).toMatchObject([
    { name: 'rose', state: 'idle', progress: 'no batch yet', jobs: '0', version: VERSION },
    { name: 'thorn', state: 'idle' },
  ]);
  await first.stop();
  await listed((names) => names.join() === 'thorn');
});

test('a worker whose process is stopped is said not to respond, and is idle again once it goes on', async () => {
  const worker = await startWorker('fern');
  workers.push(worker);
  await stateOf('fern', /^idle$/);
  // One that is stopped before it takes jobs is gone.
  await waitFor(() => takesJobs(redis, 'fern'), { withinMs: FOUND_MS_MAX, what: 'the worker takes jobs' });
  worker.signal('SIGSTOP');
  await stateOf('fern', /^does not respond for 1\d\ss$/);
  worker.signal('SIGCONT');
  await stateOf('fern', /^idle$/);
});

test('reports that are none are left out and logged, and the console goes on', async () => {
  const worker = await startWorker('ivy');
  workers.push(worker);
  const key = `${servers.QUEUE_PREFIX}:heartbeats`;
  const report = await waitFor(
    async () => Object.values(await redis.hgetall(key)).find((text) => text.includes('"ivy"')),
    { withinMs: FOUND_MS_MAX, what: 'the report of the worker' },
  );
  try {
    const cut = { ...JSON.parse(report ?? ''), name: 'weed', indexLag: {} };
    await redis.hset(key, { 'no-json': 'weed', 'no-report': '{}', cut: JSON.stringify(cut) });
    await waitFor(() => ops.log().some(({ msg }) => msg?.includes('reports of processes cannot be read')), {
      withinMs: FOUND_MS_MAX,
      what: 'the log names reports that are none',
    });
    await listed((names) => names.includes('ivy') && !names.includes('weed'));
  } finally {
    await redis.hdel(key, 'no-json', 'no-report', 'cut');
  }
});

test('a worker that was killed is gone, until another takes its name', async () => {
  const worker = await startWorker('moss');
  await stateOf('moss', /^idle$/);
  worker.signal('SIGKILL');
  await stateOf('moss', /^gone for 1\d\ss$/);
  workers.push(await startWorker('moss'));
  await stateOf('moss', /^idle$/);
});

const stateOf = (name: string, state: RegExp) =>
  listed((_names, workers) => workers.some((worker) => worker.name === name && state.test(worker.state)));

function listed(isSo: (names: string[], workers: WorkerWords[]) => boolean): Promise<WorkerWords[]> {
  return waitFor(
    async () => {
      const { workers } = (await (await vera.call('/status')).json()) as StatusWords;
      if (
        !isSo(
          workers.map(({ name }) => name),
          workers,
        )
      )
        throw new Error(JSON.stringify(workers));
      return workers;
    },
    { withinMs: FOUND_MS_MAX, what: 'the workers are listed so' },
  );
}
