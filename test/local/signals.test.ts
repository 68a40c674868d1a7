import { afterEach, beforeEach, expect, test } from 'vitest';
import { endProcessesOf, processesOf } from '../harness/processes/processes.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { dataDirectory, removeDataDirectory, startByNpm } from './started-system.ts';

needsServers();
let dataDir: string;

beforeEach(async () => {
  dataDir = await dataDirectory();
});
afterEach(async () => {
  await endProcessesOf(dataDir);
  await removeDataDirectory(dataDir);
});

test.each<[string, NodeJS.Signals, 'group' | undefined]>([
  ['Ctrl-C, which the terminal sends to all of the group,', 'SIGINT', 'group'],
  ['SIGINT to npm', 'SIGINT', undefined],
  ['SIGTERM to npm', 'SIGTERM', undefined],
])('%s ends "npm start" with 0 and leaves no process', async (_case, signal, group) => {
  const system = await startByNpm(dataDir);
  const { code, stdout } = await system.stop(signal, group);
  expect(stdout).toMatch(/draining\n.*stopped\n$/);
  expect(code).toBe(0);
  expect(await processesOf(dataDir)).toEqual([]);
});

test('a signal before everything is ready ends it with 0 and leaves no process', async () => {
  const system = await startByNpm(dataDir, 'redis-server');
  expect((await system.stop('SIGTERM')).code).toBe(0);
  expect(await processesOf(dataDir)).toEqual([]);
});

test('kill -9 of npm leaves no process either: the system notices it, and stops', async () => {
  const system = await startByNpm(dataDir);
  await system.stop('SIGKILL');
  await waitFor(async () => (await processesOf(dataDir)).length === 0, {
    withinMs: 30_000,
    what: 'all processes have ended',
  });
});
