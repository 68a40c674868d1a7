import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

export type LoadReport = { requests: number; seconds: number; p50Ms: number; p99Ms: number; failed: number };

const script = resolve(import.meta.dirname, 'create-plants.lua');

/** A closed loop of creates with ids from `firstId` on, by wrk in a process of its own. */
export async function closedLoop(options: {
  url: string;
  token: string;
  connections: number;
  seconds: number;
  firstId: number;
}): Promise<LoadReport> {
  const { url, token, connections, seconds, firstId } = options;
  const args = [
    '-t1',
    '--timeout',
    '10s',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    script,
    url,
    '--',
    String(firstId),
    token,
  ];
  const { stdout } = await promisify(execFile)('wrk', args);
  return JSON.parse(stdout.trim().split('\n').at(-1) as string) as LoadReport;
}
