import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nginxVersion } from '../../deploy/gateway/gateway-command.ts';
import { endProcessesOf, processesOf } from '../harness/processes/processes.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import {
  dataDirectory,
  failedStart,
  printedCurl,
  removeDataDirectory,
  type StartedSystem,
  sendCurl,
  startSystem,
} from './started-system.ts';

needsServers();
const installed = (await nginxVersion()) !== undefined;
let dataDir: string;

beforeAll(async () => {
  dataDir = await dataDirectory();
});
afterAll(async () => {
  await endProcessesOf(dataDir);
  await removeDataDirectory(dataDir);
});

describe.skipIf(!installed && process.env['CI'] !== 'true')('where nginx is installed', () => {
  let system: StartedSystem;
  beforeAll(async () => {
    system = await startSystem(dataDir, { GATEWAY: 'auto', API_REPLICAS: '2' });
  });

  const create = () => sendCurl(printedCurl(system));
  const pidOf = (name: string) =>
    system.runFile().processes.find((process) => process.name === name)?.pid as number;

  test('the gateway stands in front of all replicas', async () => {
    expect(system.runFile().processes.map(({ name }) => name)).toEqual([
      'mongod',
      'redis',
      'worker-1',
      'ops',
      'api-1',
      'api-2',
      'gateway',
    ]);
    const { status, headers } = await create();
    expect([status, headers.get('server')]).toEqual([200, 'nginx']);
  });

  test('its access log is bounded as the other logs are, and loses no line', {
    timeout: 60_000,
  }, async () => {
    const log = join(dataDir, 'gateway', 'access.log');
    const path = `/${'x'.repeat(7_500)}`;
    let failures = 0;
    while (!existsSync(`${log}.1`)) {
      const answers = Array.from({ length: 50 }, () => fetch(`${system.runFile().url}${path}/${failures++}`));
      for (const answer of await Promise.all(answers)) expect(answer.status).toBe(404);
    }
    expect(statSync(`${log}.1`).size).toBeGreaterThanOrEqual(10 * 2 ** 20);
    const logged = () =>
      [`${log}.1`, log].flatMap((file) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.includes(path)),
      );
    await waitFor(() => logged().length === failures, { withinMs: 10_000, what: 'every failure is logged' });
    for (const line of logged()) JSON.parse(line);
  });

  test('a gateway killed with kill -9 comes back on its port', async () => {
    const killed = pidOf('gateway');
    process.kill(killed, 'SIGKILL');
    await waitFor(() => pidOf('gateway') !== killed, { withinMs: 20_000, what: 'another gateway' });
    await waitFor(async () => (await create()).status === 200, {
      withinMs: 20_000,
      what: 'the gateway answers',
    });
  });

  test('SIGTERM drains all of it and exits with 0', async () => {
    expect((await system.stop()).code).toBe(0);
    expect(await processesOf(dataDir)).toEqual([]);
  });
});

describe('where nginx is not installed', () => {
  const without = { GATEWAY_NGINX: '/nonexistent/nginx' };

  test('the system starts without, and says so', async () => {
    const system = await startSystem(dataDir, { ...without, GATEWAY: 'auto', API_REPLICAS: '2' });
    expect(system.printed()).toMatch(/gateway +none, nginx is not installed: clients reach the API directly/);
    const created = await sendCurl(printedCurl(system));
    expect(await created.text()).toBe('{"name":"Monstera","tag":"indoor"}');
    expect((await system.stop()).code).toBe(0);
  });

  test('GATEWAY=required refuses to', async () => {
    const { code, stderr } = await failedStart(dataDir, { ...without, GATEWAY: 'required' });
    expect(stderr).toMatch(
      /^plant-store: GATEWAY=required, but nginx is not installed: install nginx, [^\n]+\n$/,
    );
    expect(code).toBe(1);
  });
});
