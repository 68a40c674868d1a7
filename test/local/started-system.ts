import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RunFile } from '@plant-store/local/data/run-file';
import { waitFor } from '../harness/wait-for.ts';

const root = resolve(import.meta.dirname, '../..');
const NODE_VERSION = './scripts/node-version.js';
const START_MS_MAX = 120_000;
const READY = 'Ctrl-C stops everything';

export type Ended = { code: number | null; stdout: string; stderr: string };

/** A local system as `npm start` runs it. */
export type StartedSystem = {
  pid: number;
  dataDir: string;
  /** What it has printed so far. */
  printed: () => string;
  /** What run.json says now. */
  runFile: () => RunFile;
  /** Sends a signal (default SIGTERM), to all of the process group when asked, and waits for the end. */
  stop: (signal?: NodeJS.Signals, group?: 'group') => Promise<Ended>;
};

export type Environment = Readonly<Record<string, string>>;

/** A DATA_DIR that exists no longer than the test or file that asks for it. */
export function dataDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'plant-store-test-local-'));
}

export function removeDataDirectory(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

/** Free ports, no gateway, no time to drain, unless the environment says otherwise. */
function environmentOf(dataDir: string, environment: Environment): NodeJS.ProcessEnv {
  const ours = { DATA_DIR: dataDir, PORT: '0', OPS_PORT: '0', GATEWAY: 'off', DRAIN_MS: '0' };
  return { ...process.env, ...ours, ...environment };
}

/** Starts it and waits until it says that it is ready. */
export function startSystem(dataDir: string, environment: Environment = {}): Promise<StartedSystem> {
  return ready(dataDir, 'node', ['--import', NODE_VERSION, 'deploy/local/start.ts'], environment);
}

/** The same by npm, in a process group of its own, as on a terminal; waits until it has printed `sign`. */
export function startByNpm(dataDir: string, sign = READY): Promise<StartedSystem> {
  return ready(dataDir, 'npm', ['start'], {}, sign);
}

async function ready(
  dataDir: string,
  program: string,
  args: readonly string[],
  environment: Environment,
  sign = READY,
): Promise<StartedSystem> {
  const started = run(program, args, environmentOf(dataDir, environment));
  const serves = waitFor(() => started.printed().includes(sign), {
    withinMs: START_MS_MAX,
    what: `it prints "${sign}"`,
  });
  const early = started.ended.then(({ code, stderr }) => {
    throw new Error(`npm start ended with ${code}: ${stderr}`);
  });
  await Promise.race([serves, early]);
  early.catch(() => {});
  return {
    pid: started.pid,
    dataDir,
    printed: started.printed,
    runFile: () => JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile,
    stop: (signal = 'SIGTERM', group) => {
      process.kill(group === undefined ? started.pid : -started.pid, signal);
      return started.ended;
    },
  };
}

/** The create that it has printed, as a command of curl. */
export function printedCurl(system: StartedSystem): string {
  return /^ *(curl .*)$/m.exec(system.printed())?.[1] as string;
}

/** Sends what the printed command sends, without curl. */
export function sendCurl(command: string): Promise<Response> {
  const [, url] = /^curl (\S+) /.exec(command) as string[];
  const headers = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)];
  const [, body] = / -d '([^']+)'$/.exec(command) as string[];
  return fetch(url as string, {
    method: 'POST',
    headers: headers.map(([, name, value]) => [name, value] as [string, string]),
    body: body as string,
  });
}

/** Starts what cannot start, and waits for its end. */
export function failedStart(
  dataDir: string,
  environment: Environment,
  node: readonly string[] = [],
): Promise<Ended> {
  const args = [...node, '--import', NODE_VERSION, 'deploy/local/start.ts'];
  return run('node', args, environmentOf(dataDir, environment)).ended;
}

/** Runs a program in the root of the project to its end. */
export function command(
  program: string,
  args: readonly string[],
  environment: Environment = {},
): Promise<Ended> {
  return run(program, args, { ...process.env, ...environment }).ended;
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const executable = program === 'node' ? process.execPath : program;
  const child = spawn(executable, args, {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { pid: child.pid as number, printed: () => stdout, ended };
}
