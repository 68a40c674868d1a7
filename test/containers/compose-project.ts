import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@plant-store/local/servers/free-port';
import { execa } from 'execa';
import { type Container, containersOf, engineIsReachable } from './engine.ts';

const root = new URL('../../', import.meta.url).pathname;

/**
 * What runs compose files here: COMPOSE_COMMAND where it is set, else `docker compose`. Undefined without it or without
 * an engine, which is said loudly.
 */
export const composeCommand = await findCompose();
if (composeCommand === undefined) {
  process.stderr.write('\n!!! TESTS OF THE CONTAINERS ARE SKIPPED: no container engine, or no compose\n\n');
}

async function findCompose(): Promise<readonly string[] | undefined> {
  const given = process.env['COMPOSE_COMMAND'];
  // Whoever names one wants it used: if it does not work, the tests fail.
  if (given !== undefined && given !== '') return given.split(' ');
  const command = ['docker', 'compose'];
  const { failed } = await execa('docker', ['compose', 'version'], { reject: false });
  return !failed && (await engineIsReachable()) ? command : undefined;
}

/** The system of docker-compose.yml under a name, ports and secrets of its own. */
export type ComposeProject = {
  name: string;
  url: string;
  opsUrl: string;
  /** The settings it runs with, as .env holds them. */
  environment: Readonly<Record<string, string>>;
  compose: (...args: string[]) => Promise<string>;
  containers: (service: string) => Promise<Container[]>;
  /** Takes it down with its data; the settings stay until `forget`. */
  down: () => Promise<void>;
  forget: () => Promise<void>;
};

export async function composeProject(): Promise<ComposeProject> {
  const [program, ...before] = composeCommand ?? [];
  if (program === undefined) throw new Error('there is no compose here');
  if (!(await engineIsReachable()))
    throw new Error('no container engine: set DOCKER_HOST to where it listens');
  const name = `plantstore-test-${randomBytes(4).toString('hex')}`;
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-compose-'));
  const file = join(directory, '.env');
  const [port, opsPort] = await Promise.all([freePort(), freePort()]);
  await execa('sh', [join(root, 'deploy/docker/new-env.sh'), file]);
  await appendFile(file, `PUBLIC_ADDRESS=127.0.0.1\nPORT=${port}\nOPS_PORT=${opsPort}\n`);

  const compose = async (...args: string[]) => {
    const all = [...before, '-p', name, '--env-file', file, '-f', 'docker-compose.yml', ...args];
    // An engine may start processes here that it keeps, as for names and health checks. By the run's directory for
    // temporary files they would pass for processes that a test has left running, and be ended.
    return (await execa(program, all, { cwd: root, env: { TMPDIR: undefined } })).stdout;
  };
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    environment: parse(await readFile(file, 'utf8')),
    compose,
    containers: async (service) => (await containersOf(name)).filter((found) => found.service === service),
    down: async () => void (await compose('--profile', 'three-members', 'down', '-v')),
    forget: () => rm(directory, { recursive: true }),
  };
}

function parse(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
