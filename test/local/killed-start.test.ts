import { freePort } from '@plant-store/local/servers/free-port';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { endProcessesOf, processesOf } from '../harness/processes/processes.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { underLoadMs } from '../harness/wait-for.ts';
import { dataDirectory, removeDataDirectory, type StartedSystem, startSystem } from './started-system.ts';

needsServers();
/** Three times what it takes on two cores; far less than any time limit that it could wait for. */
const READY_MS_MAX = 12_000;
let dataDir: string;
/** As everywhere but in tests, the same ports at every start. */
let environment: Record<string, string>;
let killed: StartedSystem;

beforeAll(async () => {
  dataDir = await dataDirectory();
  environment = { GATEWAY: 'auto', PORT: `${await freePort()}`, OPS_PORT: `${await freePort()}` };
});
beforeEach(async () => {
  killed = await startSystem(dataDir, environment);
  await killed.stop('SIGKILL');
});
afterAll(async () => {
  await endProcessesOf(dataDir);
  await removeDataDirectory(dataDir);
});

test('after kill -9 of npm start the next one succeeds at once, on the same ports and data', async () => {
  const left = await processesOf(dataDir);
  expect(left.length).toBeGreaterThan(4);

  const system = await startSystem(dataDir, environment);
  const seconds = Number(/Ready after ([\d.]+) s/.exec(system.printed())?.[1]);
  expect(seconds * 1_000).toBeLessThan(underLoadMs(READY_MS_MAX));
  expect(system.printed()).toMatch(/ended +\d+ processes that a killed start had left running/);
  const pids = (await processesOf(dataDir)).map(({ pid }) => pid);
  expect(left.filter(({ pid }) => pids.includes(pid))).toEqual([]);
  expect((await system.stop()).code).toBe(0);
});

test('of two starts over what a killed one has left exactly one wins, and the other one says so', async () => {
  const starts = [startSystem(dataDir, environment), startSystem(dataDir, environment)];
  const outcomes = await Promise.allSettled(starts);
  const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
  expect(won).toHaveLength(1);
  expect(lost[0]).toMatch(/ended with 1: .*Plant Store already runs on this DATA_DIR \(pid \d+\)/s);
  expect((await won[0]?.stop())?.code).toBe(0);
  expect(await processesOf(dataDir)).toEqual([]);
});
