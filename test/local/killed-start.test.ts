import { freePort } from '@plant-store/local/servers/free-port';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { endProcessesOf, processesOf } from '../harness/processes/processes.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { dataDirectory, removeDataDirectory, type StartedSystem, startSystem } from './started-system.ts';

needsServers();
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
