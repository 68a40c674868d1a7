import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processesOf } from '../harness/processes/processes.ts';
import { needsServers } from '../harness/servers/servers.ts';
import { command, dataDirectory, failedStart, removeDataDirectory } from './started-system.ts';

needsServers();
const occupied = createServer();
let dataDir: string;

beforeAll(async () => {
  dataDir = await dataDirectory();
  await once(occupied.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  await new Promise((resolve) => occupied.close(resolve));
  await removeDataDirectory(dataDir);
});

const port = () => `${(occupied.address() as AddressInfo).port}`;

test.each<[string, () => Record<string, string>, RegExp]>([
  ['a taken port', () => ({ PORT: port() }), /port \d+ of 127\.0\.0\.1 is in use: .* set PORT to another/],
  ['a taken ops port', () => ({ OPS_PORT: port() }), /is in use: .* set OPS_PORT to another/],
  ['two equal ports', () => ({ PORT: '4444', OPS_PORT: '4444' }), /PORT and OPS_PORT are both 4444/],
  [
    'several settings that are none',
    () => ({ PORT: 'web', API_REPLICAS: '0', GATEWAY: 'maybe' }),
    /PORT: .*API_REPLICAS: .*GATEWAY: /,
  ],
  [
    'a foreign address',
    () => ({ HOST: '203.0.113.1' }),
    /203\.0\.113\.1:\d+ cannot be listened on .* set HOST/,
  ],
  [
    'a database that is not there, its password kept',
    () => ({ MONGODB_URL: 'mongodb://user:hush@127.0.0.1:1/plants' }),
    /MONGODB_URL: no primary answers at 127\.0\.0\.1:1 within 5 s: start that database, or unset MONGODB_URL/,
  ],
  [
    'an address that is none',
    () => ({ MONGODB_URL: 'localhost' }),
    /MONGODB_URL is no MongoDB connection string/,
  ],
  ['a queue address that is none', () => ({ REDIS_URL: 'localhost' }), /REDIS_URL must begin with redis:/],
  [
    'a DATA_DIR below a file',
    () => ({ DATA_DIR: join(import.meta.filename, 'x') }),
    /DATA_DIR .* cannot be written/,
  ],
  ['a DATA_DIR that cannot be', () => ({ DATA_DIR: '/proc/x' }), /DATA_DIR \/proc\/x cannot be written/],
  [
    'a comma behind the last user',
    () => ({ OPS_USERS: 'olga:operator:correct-horse-battery,' }),
    /OPS_USERS entry 2: /,
  ],
  ['a weak secret', () => ({ AUTH_SECRET: 'hush' }), /AUTH_SECRET has 4 bytes: use at least 32/],
  [
    'two key sources',
    () => ({ AUTH_SECRET: 'h'.repeat(40), AUTH_JWKS_URL: 'https://issuer.example/keys' }),
    /AUTH_SECRET and AUTH_JWKS_URL contradict each other/,
  ],
  [
    'a setting of a service',
    () => ({ WORKER_CONCURRENCY: 'many' }),
    /WORKER_CONCURRENCY: must be a whole number/,
  ],
])(
  '%s ends npm start with one line, exit code 1 and nothing left running',
  async (_case, environment, line) => {
    const { code, stderr } = await failedStart(dataDir, environment());
    expect(stderr).toMatch(line);
    expect(stderr).toMatch(/^plant-store: [^\n]+\n$/);
    expect(stderr).not.toMatch(/hush|horse/);
    expect(code).toBe(1);
    expect(await processesOf(dataDir)).toEqual([]);
  },
);

test('an old Node is told so in one line', async () => {
  const pretend =
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } })';
  const { code, stderr } = await failedStart(dataDir, {}, ['--import', `data:text/javascript,${pretend}`]);
  expect(stderr).toMatch(/^Plant Store needs Node 24\.12 or newer, this is 20\.1\.0: [^\n]+\n$/);
  expect(code).toBe(1);
});

test('a token for a system that does not run is refused in one line', async () => {
  const { code, stdout, stderr } = await command('npm', ['run', '--silent', 'token'], { DATA_DIR: dataDir });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^token: nothing runs on DATA_DIR .*: "npm start" first[^\n]*\n$/m);
});
