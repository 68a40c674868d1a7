import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasCurl } from '../harness/curl.ts';
import { endProcessesOf, processesOf } from '../harness/processes/processes.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { waitFor } from '../harness/wait-for.ts';
import { signedIn } from '../ops/visitor.ts';
import {
  command,
  dataDirectory,
  failedStart,
  printedCurl,
  removeDataDirectory,
  type StartedSystem,
  sendCurl,
  startSystem,
} from './started-system.ts';

needsServers();
const BACK_MS_MAX = 30_000;
let dataDir: string;
let system: StartedSystem;

beforeAll(async () => {
  dataDir = await dataDirectory();
  system = await startSystem(dataDir);
});
afterAll(async () => {
  await system?.stop('SIGKILL');
  await endProcessesOf(dataDir);
  await removeDataDirectory(dataDir);
});

const pidOf = (name: string) =>
  system.runFile().processes.find((process) => process.name === name)?.pid as number;

test.skipIf(!hasCurl)(
  'the printed curl line creates a plant, and does so again when it is pasted twice',
  async () => {
    for (let paste = 1; paste <= 2; paste++) {
      const { code, stdout } = await command('sh', ['-c', `${printedCurl(system)} -s -w ' %{http_code}'`]);
      expect(code).toBe(0);
      expect(stdout).toBe('{"name":"Monstera","tag":"indoor"} 200');
    }
  },
);

test('"npm run --silent token" prints a token alone, and the API takes it', async () => {
  const { stdout, stderr, code } = await command(
    'npm',
    ['run', '--silent', 'token', '--', '--sub', 'someone'],
    {
      DATA_DIR: dataDir,
    },
  );
  expect({ code, stderr: stderr.replaceAll(/^npm warn .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(await create(stdout.trim(), 1)).toBe(200);
});

test('run.json names every part and is readable by its owner alone', async () => {
  const file = system.runFile();
  const names = file.processes.map(({ name }) => name);
  expect(names).toEqual(['mongod', 'redis', 'worker-1', 'ops', 'api-1']);
  expect(file.ops.users.map(({ name, role }) => [name, role])).toEqual([
    ['operator', 'operator'],
    ['viewer', 'viewer'],
  ]);
  for (const name of ['run.json', 'token.json', 'auth-secret', 'ops-users']) {
    expect([name, statSync(join(dataDir, name)).mode & 0o777]).toEqual([name, 0o600]);
  }
  for (const { name, url } of file.processes.filter((process) => process.url !== undefined)) {
    expect([name, (await fetch(`${url}/readyz`)).status]).toEqual([name, 200]);
  }
});

test('doctor finds the running system by itself, and finds it well', async () => {
  const environment = { DATA_DIR: dataDir, MONGODB_URL: '', REDIS_URL: '' };
  // What a busy machine answers late is no fault that lasts.
  const { stdout } = await waitFor(
    async () => {
      const ran = await command('node', ['services/ops/src/commands/main.ts', 'doctor'], environment);
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      return ran;
    },
    { withinMs: 20_000, what: 'doctor finds it well' },
  );
  for (const name of ['processes', 'public port', 'console port', 'disk of DATA_DIR']) {
    expect(stdout).toMatch(new RegExp(`^ok +${name} `, 'm'));
  }
});

test('the printed password signs in to the ops console', async () => {
  const { ops } = system.runFile();
  const [, name = '', password = ''] = /sign in as (operator) with (\S+)/.exec(system.printed()) ?? [];
  expect(system.printed()).toContain(ops.url);
  const operator = await signedIn(ops, { name, password });
  expect((await operator.see('/')).status).toBe(200);
});

test('what the processes log goes to files, and no secret is in them', async () => {
  const logs = readdirSync(join(dataDir, 'logs')).toSorted();
  expect(logs).toEqual(['api-1.log', 'mongod.log', 'ops.log', 'redis.log', 'worker-1.log']);
  const { stdout } = await command('grep', [
    '-rc',
    system.runFile().ops.users[0]?.password as string,
    join(dataDir, 'logs'),
  ]);
  expect(stdout.split('\n').filter((line) => line !== '' && !line.endsWith(':0'))).toEqual([]);
});

test.each(['api-1', 'worker-1', 'ops', 'redis', 'mongod'])('%s comes back after kill -9', async (name) => {
  const killed = pidOf(name);
  process.kill(killed, 'SIGKILL');
  await waitFor(
    () => pidOf(name) !== killed && system.printed().includes(`${name} is back (pid ${pidOf(name)})`),
    {
      withinMs: BACK_MS_MAX,
      what: `${name} is back`,
    },
  );
  const { stdout: token } = await command('npm', ['run', '--silent', 'token'], { DATA_DIR: dataDir });
  await waitFor(async () => (await create(token.trim(), killed)) === 200, {
    withinMs: BACK_MS_MAX,
    what: 'creates succeed',
  });
});

test('a second start on the same DATA_DIR is refused and disturbs nothing', async () => {
  const { code, stderr } = await failedStart(dataDir, {});
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^plant-store: Plant Store already runs on this DATA_DIR \(pid \d+\): stop it, or set .*\n$/,
  );
  expect((await fetch(`${system.runFile().processes[2]?.url}/readyz`)).status).toBe(200);
});

test('SIGTERM ends it with 0 and leaves no process; the next start finds plants, secret and passwords', async () => {
  const { ops, processes } = system.runFile();
  const line = printedCurl(system);
  expect((await sendCurl(line)).status).toBe(200);
  const { code, stderr } = await system.stop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(processes.filter(({ pid }) => isAlive(pid))).toEqual([]);
  expect(await processesOf(dataDir)).toEqual([]);
  expect(readdirSync(dataDir)).not.toContain('run.json');

  system = await startSystem(dataDir);
  expect(system.runFile().ops.users).toEqual(ops.users);
  const again = line.replace(/http:\/\/[^/]+/, system.runFile().url).replace(/first-\d+/, 'another-key');
  expect(await (await sendCurl(again)).json()).toMatchObject({ error: 1008 });
});

async function create(token: string, id: number): Promise<number> {
  const { status, body } = await fetch(`${system.runFile().url}/plants`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': 'once',
    },
    body: JSON.stringify({ id, name: 'Monstera' }),
  });
  await body?.cancel();
  return status;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
