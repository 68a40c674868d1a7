import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { cpuMsOf } from '../systems/cpu.ts';
import { type Ground, QUEUE_PREFIX } from '../systems/ground.ts';
import { launch, type OwnProcess } from '../systems/own-processes.ts';

const MAIN = resolve(import.meta.dirname, '../../../services/ops/src/commands/main.ts');
/** Loaded before the command: writes what the process has used as its last line. */
const USAGE = `data:text/javascript,${encodeURIComponent(
  'process.once("exit", () => process.stdout.write(JSON.stringify(process.resourceUsage())))',
)}`;

/** What one run of a command took. */
export type CommandFigure = {
  exitCode: number | null;
  seconds: number;
  /** The most memory that the process had at any time (resident). */
  memoryBytesMax: number;
  cpuSeconds: { command: number; mongod: number };
  answer: string;
};

export function startCommand({ environment }: Ground, args: readonly string[]): OwnProcess {
  const { MONGODB_URL, REDIS_URL } = environment;
  return launch(process.execPath, ['--import', USAGE, MAIN, ...args], {
    env: { ...process.env, MONGODB_URL, REDIS_URL, QUEUE_PREFIX },
  });
}

/** Runs an operator's command to its end. */
export async function runCommand(ground: Ground, args: readonly string[]): Promise<CommandFigure> {
  const { mongod } = ground.pids();
  const before = await cpuMsOf([mongod]);
  const started = performance.now();
  const child = startCommand(ground, args);
  const [output, exitCode] = await Promise.all([text(child.stdout), child.gone]);
  const seconds = (performance.now() - started) / 1_000;
  const [, answer = '', usage = '{}'] = /^(.*?)(\{[^{}]*\})$/s.exec(output) ?? [];
  const { maxRSS = 0, userCPUTime = 0, systemCPUTime = 0 } = JSON.parse(usage) as Record<string, number>;
  return {
    exitCode,
    seconds,
    memoryBytesMax: maxRSS * 1_024,
    cpuSeconds: {
      command: (userCPUTime + systemCPUTime) / 1e6,
      mongod: ((await cpuMsOf([mongod])) - before) / 1_000,
    },
    answer: answer.trim(),
  };
}
