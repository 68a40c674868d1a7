import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { findOnPath } from '@plant-store/local/servers/binaries/search-path';
import { cpuMsOf } from '../systems/cpu.ts';
import { launch } from '../systems/own-processes.ts';
import type { Load, LoadReport } from './load.ts';

/** The slowest system empties its connections in less. */
const LAST_ANSWER_S_MAX = 20;

export const wrk = findOnPath('wrk');

/** Offers a load: closed loops by wrk where it is installed, all else by the generator beside this file. */
export function runLoad(load: Load, closedLoopBy: string | undefined = wrk): Promise<LoadReport> {
  return closedLoopBy === undefined || load.rate !== undefined
    ? byGenerator(load)
    : byWrk(closedLoopBy, load);
}

async function byWrk(program: string, load: Load): Promise<LoadReport> {
  const { url, token, connections, seconds, firstId, repeatEvery = 0, nameBytes = 0 } = load;
  const script = resolve(import.meta.dirname, 'create-plants.lua');
  const tool = ['-t1', '--timeout', `${LAST_ANSWER_S_MAX}s`, `-c${connections}`];
  const ours = [firstId, token, seconds, connections, repeatEvery, nameBytes].map(String);
  const duration = `-d${Math.ceil(seconds) + LAST_ANSWER_S_MAX}s`;
  const child = launch(program, [...tool, duration, '-s', script, url, '--', ...ours]);

  let cpuMs = 0;
  const { last, code } = await lines(child, async (line) => {
    if (line !== 'answered') return;
    cpuMs = await cpuMsOf([child.pid]);
    child.kill('SIGINT');
  });
  if (code !== 0) throw new Error(`wrk ended with ${code}: ${last}`);
  const { requests, repeated, refused, broken, startedAt, stopAt, answeredAt, ...percentiles } = JSON.parse(
    last,
  ) as Record<string, number> & { p50Ms: number; p99Ms: number };
  return {
    created: (requests as number) - (refused as number),
    repeated: repeated as number,
    refused: refused as number,
    // Without an end of its own it waited for an answer that never came.
    broken: (broken as number) + (answeredAt === 0 ? 1 : 0),
    startedMs: (startedAt as number) * 1_000,
    answeredMs: (answeredAt as number) * 1_000,
    seconds: (stopAt as number) - (startedAt as number),
    ...percentiles,
    cpuMs,
  };
}

export async function byGenerator(load: Load): Promise<LoadReport> {
  const child = launch(process.execPath, [
    resolve(import.meta.dirname, 'generator.ts'),
    JSON.stringify(load),
  ]);
  const { last, code } = await lines(child);
  if (code !== 0) throw new Error(`the load generator ended with ${code}`);
  return JSON.parse(last) as LoadReport;
}

/** Reads a program's lines until it ends. */
async function lines(
  { stdout, gone }: ReturnType<typeof launch>,
  onLine: (line: string) => void = () => {},
): Promise<{ last: string; code: number | null }> {
  let last = '';
  const reader = createInterface(stdout).on('line', (line) => {
    last = line;
    onLine(line);
  });
  await once(reader, 'close');
  return { last, code: await gone };
}
