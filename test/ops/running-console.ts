import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../harness/wait-for.ts';

const main = join(import.meta.dirname, '../../services/ops/src/main.ts');
const START_MS_MAX = 20_000;

export const operator = { name: 'olga', role: 'operator', password: 'correct:horse-battery' } as const;
export const viewer = { name: 'vera', role: 'viewer', password: 'looking-glass-house' } as const;
const users = [operator, viewer].map(({ name, role, password }) => `${name}:${role}:${password}`).join(',');

type LogLine = { msg: string } & Record<string, unknown>;

/** The console as the process that is shipped. */
export type RunningConsole = {
  url: string;
  internalUrl: string;
  pid: number;
  log: () => LogLine[];
  /** Everything it wrote, to look for what must not be there. */
  output: () => string;
  /** One sample of /metrics, by its name and labels as they are printed. */
  metric: (sample: string) => Promise<number | undefined>;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  /** Ends it by SIGTERM. */
  close: () => Promise<void>;
};

/** Runs the console with these variables until it listens. */
export async function startConsole(environment: Record<string, string>): Promise<RunningConsole> {
  const { child, output, ended } = runConsole(environment);
  const listening = await waitFor(
    () => {
      if (child.exitCode !== null) throw new Error(output());
      return readLog(output()).find(({ msg }) => msg === 'listening');
    },
    { withinMs: START_MS_MAX, what: 'the console listens' },
  );
  const internalUrl = String(listening['internal']);
  return {
    url: String(listening['url']),
    internalUrl,
    pid: child.pid as number,
    log: () => readLog(output()),
    output,
    metric: async (sample) => readSample(await (await fetch(`${internalUrl}/metrics`)).text(), sample),
    ended,
    close: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Starts the process and waits for nothing: for starts that are meant to fail. */
export function runConsole(environment: Record<string, string>): {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'],
      // By it the run finds processes that a test has left behind.
      TMPDIR: tmpdir(),
      OPS_PORT: '0',
      OPS_USERS: users,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { child, output: () => text, ended: once(child, 'close').then(([code]) => code as number | null) };
}

function readLog(output: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** The service's own label stands on every sample and is left out of the name asked for. */
function readSample(text: string, sample: string): number | undefined {
  const name = (line: string) => line.replace(/,?service="ops"/, '').replace('{}', '');
  const line = text.split('\n').find((candidate) => name(candidate).startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}
